// SPDX-License-Identifier: MIT
//
// Answers that are held to a format, through the whole engine: of a tiny random model, which would
// write anything, and of Glimmer with its drafter.
#include "tests/engine/serve/engine_fixture.h"
#include "tests/support/test_paths.h"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;
using nlohmann::json;

namespace {

constexpr const char *kSchema = R"({"type":"object","properties":{
    "name":{"type":"string","maxLength":12},
    "age":{"type":"integer","minimum":0,"maximum":150},
    "colour":{"enum":["red","green","blue"]},
    "tags":{"type":"array","items":{"type":"boolean"},"maxItems":3}},
    "required":["name","age","colour"],"additionalProperties":false})";

constexpr const char *kTool = R"({"type":"function","function":{"name":"look","parameters":
    {"type":"object","properties":{"city":{"type":"string","maxLength":8},
     "days":{"type":"integer","minimum":1,"maximum":9}},"required":["city","days"]}}})";

bool isRight(const json &answer)
{
    return answer.is_object() && answer.at("name").is_string()
        && answer.at("age").is_number_integer() && answer.at("age") >= 0 && answer.at("age") <= 150
        && (answer.at("colour") == "red" || answer.at("colour") == "green"
            || answer.at("colour") == "blue")
        && answer.value("tags", json::array()).size() <= 3;
}

GenerationRequest formatted(AnswerFormat::Kind kind, std::uint64_t seed, float temperature = 1)
{
    GenerationRequest request;
    request.prompt.tokens = test::promptTokens(12, static_cast<int>(seed));
    request.prompt.startsInThinking = false;
    request.sampling.temperature = temperature;
    request.sampling.seed = seed;
    request.format.kind = kind;
    request.format.schema = kSchema;
    return request;
}

} // namespace

TEST_CASE("a random model writes what the schema says, and ends there")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const test::RequestLog log = fixture.submit(
            formatted(AnswerFormat::Kind::JsonSchema, seed, seed % 3 == 0 ? 0 : 1));
        INFO("seed ", seed, ": ", log.text());
        CHECK(log.finished().reason == FinishReason::Stop);
        const json answer = json::parse(log.text(), nullptr, false);
        REQUIRE(!answer.is_discarded());
        CHECK(isRight(answer));
    }
}

TEST_CASE("requests with a format beside free ones: each as alone")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(512, 3));
    const auto request = [](int i) {
        return i % 2 == 0 ? formatted(AnswerFormat::Kind::JsonSchema, static_cast<std::uint64_t>(i))
                          : test::endlessRequest(20, 60, i);
    };
    std::vector<std::vector<std::int32_t>> alone;
    for (int i = 0; i < 6; ++i)
        alone.push_back(fixture.submit(request(i)).finished().tokens);
    std::vector<test::RequestLog> logs;
    for (int i = 0; i < 6; ++i)
        logs.push_back(fixture.submit(request(i)));
    for (std::size_t i = 0; i < logs.size(); ++i)
        CHECK(logs[i].finished().tokens == alone[i]);
}

TEST_CASE("thinking stays free, ends by its budget, and the answer behind it has its format")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        GenerationRequest request = formatted(AnswerFormat::Kind::JsonSchema, seed);
        request.prompt.startsInThinking = true;
        request.thinkingBudget = 20;
        const test::RequestLog log = fixture.submit(request);
        CHECK(log.finished().reason == FinishReason::Stop);
        INFO(log.thinking(), " | ", log.text());
        CHECK(log.finished().usage.reasoningTokens > 0);
        CHECK(isRight(json::parse(log.text())));
    }
}

TEST_CASE("a call that is forced has a tool's name and the arguments of its schema")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        GenerationRequest request = formatted(AnswerFormat::Kind::ToolCalls, seed);
        request.format.tools = { Tool { kTool } };
        request.format.allowsParallelCalls = false;
        request.prompt.toolParameterTypes["look"] = { { "city", "string" }, { "days", "integer" } };
        const test::RequestLog log = fixture.submit(request);
        CHECK(log.finished().reason == FinishReason::ToolCalls);
        CHECK(log.text().empty());
        std::optional<ToolCall> call;
        for (const GenerationEvent &event : log.events()) {
            if (const auto *made = std::get_if<ToolCallEvent>(&event)) {
                CHECK(!call);
                call = made->call;
            }
        }
        REQUIRE(call);
        CHECK(call->name == "look");
        const json arguments = json::parse(call->argumentsJson);
        CHECK(arguments.size() == 2);
        CHECK(arguments.at("city").is_string());
        CHECK(arguments.at("days") >= 1);
        CHECK(arguments.at("days") <= 9);
    }
}

TEST_CASE("what a format cannot be is refused before the request waits, with the place")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    GenerationRequest request = formatted(AnswerFormat::Kind::JsonSchema, 1);
    request.format.schema = R"({"type":"object","properties":{"n":{"multipleOf":7}}})";
    const test::RequestLog log;
    const auto id = fixture.engine().submit(request, log.sink());
    REQUIRE(!id);
    CHECK(id.error().code == ErrorCode::BadRequest);
    CHECK(id.error().message.contains("/properties/n"));
    CHECK(id.error().message.contains("multipleOf"));
    CHECK(log.events().empty());
}

TEST_CASE("a bias that bans every token fails its own request and nothing else")
{
    test::EngineFixture fixture;
    const auto info = fixture.load(512, 2);
    REQUIRE(info);
    GenerationRequest request = test::endlessRequest(10, 50);
    for (std::int32_t id = 0; id < info->vocabularySize; ++id)
        request.sampling.logitBias.emplace_back(id, -100.0F);
    const test::RequestLog beside = fixture.submit(test::endlessRequest(10, 200));
    CHECK(fixture.submit(request).failure().code == ErrorCode::BadRequest);
    CHECK(beside.finished().tokens.size() == 200);
    // Of what a format allows, too: no digit, so no number.
    GenerationRequest number = formatted(AnswerFormat::Kind::JsonSchema, 1);
    number.format.schema = R"({"type":"integer"})";
    for (std::int32_t id = 0; id < info->vocabularySize; ++id) {
        const auto text = fixture.engine().detokenize(std::array { id });
        if (text && text->find_first_of("0123456789") != std::string::npos)
            number.sampling.logitBias.emplace_back(id, -100.0F);
    }
    const Error error = fixture.submit(number).failure();
    CHECK(error.code == ErrorCode::BadRequest);
    CHECK(error.message.contains("logit_bias"));
    CHECK(fixture.submit(test::endlessRequest(10, 5)).finished().tokens.size() == 5);
}

TEST_CASE("Glimmer answers in JSON, drafted or not with the same tokens")
{
    const std::unique_ptr<Engine> engine = createEngine({});
    LoadOptions options = test::loadOptions(test::embeddedModelDirectory(), 1024);
    options.drafterDirectory = test::embeddedDrafterDirectory();
    const test::LoadLog loading;
    engine->load(options, loading.sink());
    REQUIRE(loading.result());
    const std::vector<Message> messages { Message::text(
        Role::User, "Zoe is 17 and likes green. Answer in JSON with name, age and colour.") };
    PromptOptions low;
    low.effort = ReasoningEffort::Low;
    const auto prompt = engine->prepare(messages, {}, low);
    REQUIRE(prompt);
    for (const float temperature : { 0.0F, 0.8F }) {
        std::vector<std::int32_t> undrafted;
        for (const DrafterKind drafter :
             { DrafterKind::None, DrafterKind::Lookup, DrafterKind::Dflash2 }) {
            GenerationRequest request = formatted(AnswerFormat::Kind::JsonSchema, 5, temperature);
            request.prompt = *prompt;
            request.drafting = { drafter, 5 };
            const test::RequestLog log;
            REQUIRE(engine->submit(request, log.sink()));
            const Finished finished = log.finished();
            INFO(log.thinking(), " | ", log.text());
            CHECK(finished.reason == FinishReason::Stop);
            CHECK(isRight(json::parse(log.text())));
            if (drafter == DrafterKind::None)
                undrafted = finished.tokens;
            else
                CHECK(finished.tokens == undrafted);
        }
    }
}
