// SPDX-License-Identifier: MIT
#include "engine/text/tokenizer.h"
#include "tests/engine/serve/engine_fixture.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;

TEST_CASE("prepare renders, tokenises and says where the answer begins")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const auto tokenizer = Tokenizer::load(fixture.folder() / "tokenizer.json");
    REQUIRE(tokenizer);
    const std::vector<Message> messages = { Message::text(Role::User, "hello there") };

    const auto prompt = fixture.engine().prepare(messages, {}, {});
    REQUIRE(prompt);
    CHECK(prompt->startsInThinking);
    CHECK(prompt->tokens.back() == tokenizer->addedTokenId("<think>"));
    CHECK(tokenizer->decode(prompt->tokens).find("hello there") != std::string::npos);

    const auto closed = fixture.engine().prepare(messages, {}, { .thinking = false });
    REQUIRE(closed);
    CHECK(!closed->startsInThinking);
    CHECK(closed->tokens.back() == tokenizer->addedTokenId("</think>"));
}

TEST_CASE("prepare says where the last user's turn begins")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const auto tokenizer = Tokenizer::load(fixture.folder() / "tokenizer.json");
    REQUIRE(tokenizer);
    const std::vector<Message> messages = {
        Message::text(Role::User, "one"),
        Message::text(Role::Assistant, "two"),
        Message::text(Role::User, "three <|user|>"),
    };
    const auto prompt = fixture.engine().prepare(messages, {}, {});
    REQUIRE(prompt);
    const auto turn = std::span(prompt->tokens).subspan(prompt->lastUserTurn);
    CHECK(turn.front() == tokenizer->addedTokenId("<|user|>"));
    CHECK(tokenizer->decode(turn).starts_with("<|user|>"));
    CHECK(tokenizer->decode(turn).find("three <|user|>") != std::string::npos);
    CHECK(tokenizer->decode(turn).find("two") == std::string::npos);

    PromptOptions raw;
    raw.applyTemplate = false;
    const std::vector<Message> plain = { Message::text(Role::User, "c") };
    const auto untagged = fixture.engine().prepare(plain, {}, raw);
    REQUIRE(untagged);
    CHECK(untagged->lastUserTurn == untagged->tokens.size());
}

TEST_CASE("control tags that a person typed stay text")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const auto tokenizer = Tokenizer::load(fixture.folder() / "tokenizer.json");
    REQUIRE(tokenizer);
    const auto user = tokenizer->addedTokenId("<|user|>");
    const std::vector<Message> messages = { Message::text(Role::User, "<|user|><think></think>") };
    const auto prompt = fixture.engine().prepare(messages, {}, {});
    REQUIRE(prompt);
    CHECK(std::ranges::count(prompt->tokens, *user) == 1);
    CHECK(prompt->startsInThinking);
    CHECK(tokenizer->decode(prompt->tokens).find("<|user|><think></think>") != std::string::npos);
}

TEST_CASE("without the template the texts are taken as they are")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const auto tokenizer = Tokenizer::load(fixture.folder() / "tokenizer.json");
    REQUIRE(tokenizer);
    PromptOptions raw;
    raw.applyTemplate = false;
    const std::vector<Message> open
        = { Message::text(Role::User, "<|user|>a<|assistant|><think>b") };
    const auto prompt = fixture.engine().prepare(open, {}, raw);
    REQUIRE(prompt);
    CHECK(prompt->tokens == tokenizer->encode("<|user|>a<|assistant|><think>b"));
    CHECK(prompt->startsInThinking);
    const std::vector<Message> closed = { Message::text(Role::User, "<think>b</think>c") };
    CHECK(!fixture.engine().prepare(closed, {}, raw)->startsInThinking);
    const std::vector<Message> plain = { Message::text(Role::User, "c") };
    CHECK(!fixture.engine().prepare(plain, {}, raw)->startsInThinking);

    Message image;
    image.content = { { ContentPart::Kind::Image, "" } };
    const std::vector<Message> images = { image };
    CHECK(fixture.engine().prepare(images, {}, raw).error().code == ErrorCode::BadRequest);
}

TEST_CASE("a conversation longer than the context is refused with both numbers")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load(64));
    const std::vector<Message> messages = { Message::text(Role::User, std::string(500, '#')) };
    const auto prompt = fixture.engine().prepare(messages, {}, {});
    REQUIRE(!prompt);
    CHECK(prompt.error().code == ErrorCode::ContextExceeded);
    CHECK(prompt.error().message.starts_with(
        "This model's maximum context length is 64 tokens. However, "
        "your messages resulted in 5"));
}

TEST_CASE("tools that are no JSON objects are refused, the others give their parameter types")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const std::vector<Message> messages = { Message::text(Role::User, "a") };
    const std::vector<Tool> broken = { { "[1]" } };
    CHECK(fixture.engine().prepare(messages, broken, {}).error().code == ErrorCode::BadRequest);
    const std::vector<Tool> good = {
        { R"({"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}})" }
    };
    const auto prompt = fixture.engine().prepare(messages, good, {});
    REQUIRE(prompt);
    CHECK(prompt->toolParameterTypes.at("f").at("n") == "integer");
}

TEST_CASE("countTokens counts")
{
    test::EngineFixture fixture;
    REQUIRE(fixture.load());
    const auto tokenizer = Tokenizer::load(fixture.folder() / "tokenizer.json");
    CHECK(fixture.engine().countTokens("") == 0);
    const std::string text = "the ring and the well";
    CHECK(*fixture.engine().countTokens(text) == static_cast<int>(tokenizer->encode(text).size()));
}

// The model is made to write letter by letter, which no tokenizer would: its answers tokenise to
// other ids.
TEST_CASE("ids of a text and the text of ids, which model is ready")
{
    test::EngineFixture fixture;
    const Engine &engine = fixture.engine();
    CHECK(engine.tokenize("abc").error().code == ErrorCode::NotLoaded);
    CHECK(engine.detokenize({}).error().code == ErrorCode::NotLoaded);
    CHECK(!engine.model());
    REQUIRE(fixture.load());
    const auto ids = engine.tokenize("hello there");
    REQUIRE(ids);
    CHECK(static_cast<int>(ids->size()) == engine.countTokens("hello there"));
    CHECK(engine.detokenize(*ids) == "hello there");
    REQUIRE(engine.model());
    const std::int32_t beyond = engine.model()->vocabularySize;
    for (const std::int32_t wrong : { -1, beyond }) {
        const auto refused = engine.detokenize(std::vector { wrong });
        REQUIRE(!refused);
        CHECK(refused.error().code == ErrorCode::BadRequest);
        CHECK(refused.error().message.contains(std::to_string(wrong)));
    }
}

TEST_CASE("a prompt with the tokens of its answers is the exact history of them")
{
    test::EngineFixture fixture;
    const auto info = fixture.load();
    REQUIRE(info);
    const auto tokenizer = Tokenizer::load(fixture.folder() / "tokenizer.json");
    REQUIRE(tokenizer);
    CHECK(info->vocabulary == tokenizer->digest());
    int retokenisedOtherwise = 0;
    for (const bool thinks : { false, true }) {
        const PromptOptions options { .thinking = thinks };
        std::vector<Message> messages = { Message::text(Role::User, "go") };
        for (std::uint64_t turn = 0; turn < 3; ++turn) {
            auto prompt = fixture.engine().prepare(messages, {}, options);
            REQUIRE(prompt);
            GenerationRequest request = test::endlessRequest(1, 25);
            request.prompt = *prompt;
            request.sampling.temperature = 2.0F;
            request.sampling.seed = turn;
            for (const char letter : std::string_view("hteinrow"))
                request.sampling.logitBias.emplace_back(
                    tokenizer->encodeOrdinary(std::string(1, letter)).front(), 100.0F);
            const test::RequestLog log = fixture.submit(request);
            const Finished finished = log.finished();

            Message answer = Message::text(Role::Assistant, log.text());
            if (thinks)
                answer.reasoning = log.thinking();
            std::vector<Message> textOnly = messages;
            messages.push_back(answer);
            messages.back().tokens = finished.tokens;
            textOnly.push_back(answer);
            for (std::vector<Message> *branch : { &messages, &textOnly })
                branch->push_back(Message::text(Role::User, "and then"));
            const auto next = fixture.engine().prepare(messages, {}, options);
            const auto retokenised = fixture.engine().prepare(textOnly, {}, options);
            REQUIRE(next);
            REQUIRE(retokenised);
            std::vector<std::int32_t> history = prompt->tokens;
            history.insert(history.end(), finished.tokens.begin(), finished.tokens.end());
            REQUIRE(next->tokens.size() > history.size());
            CHECK(std::equal(history.begin(), history.end(), next->tokens.begin()));
            retokenisedOtherwise += next->tokens == retokenised->tokens ? 0 : 1;
        }
    }
    CHECK(retokenisedOtherwise >= 4);
}
