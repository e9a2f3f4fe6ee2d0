// SPDX-License-Identifier: MIT
//
// Input: options, then token ids and the steps in which they arrive. One id at a time and in steps,
// the parser must say the same, in valid UTF-8 and with arguments that are JSON.
#include "engine/base/utf8.h"
#include "engine/text/output_parser.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>
#include <span>
#include <string>
#include <vector>

using namespace firesteel::engine;

namespace {

const Tokenizer &tokenizer()
{
    static const Tokenizer loaded = [] {
        auto result = Tokenizer::load(FIRESTEEL_TEST_DATA "/tokenizer/tokenizer.json");
        if (!result)
            std::abort();
        return std::move(*result);
    }();
    return loaded;
}

// Bytes from 0xC0 on are the 36 added tokens, over and over; 0x80 to 0xBF two-byte ids; others a
// base token.
std::vector<std::int32_t> idsFrom(FuzzedDataProvider &input)
{
    std::vector<std::int32_t> ids;
    while (input.remaining_bytes() > 0 && ids.size() < 500) {
        const auto byte = input.ConsumeIntegral<std::uint8_t>();
        if (byte >= 0xC0)
            ids.push_back(6084 + (byte - 0xC0) % 40);
        else if (byte >= 0x80)
            ids.push_back((byte - 0x80) << 8 | input.ConsumeIntegral<std::uint8_t>());
        else
            ids.push_back(byte - 1);
    }
    return ids;
}

struct Said
{
    std::string text;
    int tokens = 0;
    int consumed = 0;
    OutputParser::Status status = OutputParser::Status::Running;

    void add(const std::vector<OutputParser::Piece> &pieces)
    {
        for (const OutputParser::Piece &piece : pieces) {
            if (const auto *thinking = std::get_if<ThinkingDelta>(&piece))
                addText('T', thinking->text, thinking->tokens);
            else if (const auto *answer = std::get_if<TextDelta>(&piece))
                addText('A', answer->text, answer->tokens);
            else
                addCall(std::get<ToolCallEvent>(piece).call);
        }
    }

    bool operator==(const Said &) const = default;

private:
    void addText(char kind, const std::string &more, int count)
    {
        if (more.empty() || !isValidUtf8(more))
            std::abort();
        if (m_kind != kind)
            text += kind;
        m_kind = kind;
        text += more;
        tokens += count;
    }
    void addCall(const ToolCall &call)
    {
        const auto arguments = parsePromptJson(call.argumentsJson, "arguments");
        if (call.name.empty() || !arguments || arguments->kind != PromptJson::Kind::Object)
            std::abort();
        m_kind = 'C';
        text += 'C' + call.name + call.argumentsJson;
    }

    char m_kind = ' ';
};

Said parse(std::span<const std::int32_t> ids, const OutputParser::Options &options,
           std::size_t step)
{
    OutputParser parser(tokenizer(), options);
    Said said;
    for (std::size_t at = 0; at < ids.size() && said.status == OutputParser::Status::Running;
         at += step) {
        const auto outcome = parser.push(ids.subspan(at, std::min(step, ids.size() - at)));
        said.add(outcome.pieces);
        said.consumed += outcome.consumed;
        said.status = outcome.status;
    }
    said.add(parser.finish());
    if (!parser.finish().empty() || said.tokens > said.consumed
        || parser.reasoningTokens() > said.consumed)
        std::abort();
    return said;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    FuzzedDataProvider input(data, size);
    OutputParser::Options options;
    options.startsInThinking = input.ConsumeBool();
    options.eosTokenIds = { 6084, 6091, 6093 };
    options.toolParameterTypes
        = { { "f", { { "k", "string" }, { "n", "string|null" }, { "i", "integer" } } } };
    for (std::size_t count = input.ConsumeIntegralInRange<std::size_t>(0, 3); count > 0; --count)
        options.stop.push_back(input.ConsumeRandomLengthString(12));
    const std::size_t step = input.ConsumeIntegralInRange<std::size_t>(2, 16);
    const std::vector<std::int32_t> ids = idsFrom(input);
    if (parse(ids, options, 1) != parse(ids, options, step))
        std::abort();
    return 0;
}
