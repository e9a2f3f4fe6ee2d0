// SPDX-License-Identifier: MIT
#include "engine/tools/synth_tokenizer.h"

#include <array>
#include <nlohmann/json.hpp>

namespace firesteel::engine {

namespace {

using nlohmann::ordered_json;

// GPT-2's visible stand-ins for the 256 bytes, as UTF-8: printable Latin-1 characters stand for
// themselves, the others are U+0100 and up. In the order of the released vocabulary: first the
// printable ones, then the rest.
std::vector<std::string> byteTokens()
{
    std::vector<std::string> printableOnes;
    std::vector<std::string> others;
    unsigned next = 0x100;
    const auto encode = [](unsigned code) {
        std::string text;
        if (code < 0x80)
            return text + static_cast<char>(code);
        text += static_cast<char>(0xC0U | code >> 6U);
        return text + static_cast<char>(0x80U | (code & 0x3FU));
    };
    for (unsigned byte = 0; byte < 256; ++byte) {
        const bool isPrintable
            = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        if (isPrintable)
            printableOnes.push_back(encode(byte));
        else
            others.push_back(encode(next++));
    }
    printableOnes.insert(printableOnes.end(), others.begin(), others.end());
    return printableOnes;
}

// In the release's order; the first 18 are flagged special.
constexpr std::array kAddedTokens {
    "<|endoftext|>",
    "[MASK]",
    "[gMASK]",
    "[sMASK]",
    "<sop>",
    "<eop>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<|begin_of_image|>",
    "<|end_of_image|>",
    "<|begin_of_video|>",
    "<|end_of_video|>",
    "<|begin_of_audio|>",
    "<|end_of_audio|>",
    "<|begin_of_transcription|>",
    "<|end_of_transcription|>",
    "<|code_prefix|>",
    "<|code_middle|>",
    "<|code_suffix|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "/nothink",
    "<|begin_of_box|>",
    "<|end_of_box|>",
    "<|image|>",
    "<|video|>",
};
constexpr int kSpecialTokens = 18;

constexpr auto kPattern
    = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

static_assert(kAddedTokens.size() == kAddedTokenCount);

} // namespace

std::vector<TokenMerge> byteMerges(int baseTokens)
{
    const std::vector<std::string> bytes = byteTokens();
    std::vector<std::string> shorter = bytes;
    std::vector<TokenMerge> merges;
    const auto wanted = static_cast<std::size_t>(baseTokens) - bytes.size();
    while (merges.size() < wanted) {
        std::vector<std::string> longer;
        for (const std::string &left : shorter)
            for (const std::string &right : bytes) {
                if (merges.size() == wanted)
                    return merges;
                merges.emplace_back(left, right);
                longer.push_back(left + right);
            }
        shorter = std::move(longer);
    }
    return merges;
}

std::string tokenizerJson(std::span<const TokenMerge> merges)
{
    // Fields of an ordered object are found by searching; these are known to be new.
    ordered_json vocabulary = ordered_json::object();
    auto &tokens = vocabulary.get_ref<ordered_json::object_t &>();
    const auto addToken
        = [&tokens](const std::string &token) { tokens.push_back({ token, tokens.size() }); };
    for (const std::string &token : byteTokens())
        addToken(token);
    ordered_json mergeList = ordered_json::array();
    for (const auto &[left, right] : merges) {
        addToken(left + right);
        mergeList.push_back({ left, right });
    }
    ordered_json added = ordered_json::array();
    for (std::size_t i = 0; i < kAddedTokens.size(); ++i)
        added.push_back({ { "id", vocabulary.size() + i },
                          { "content", kAddedTokens.at(i) },
                          { "single_word", false },
                          { "lstrip", false },
                          { "rstrip", false },
                          { "normalized", false },
                          { "special", i < kSpecialTokens } });
    const ordered_json byteLevel = { { "type", "ByteLevel" },
                                     { "add_prefix_space", false },
                                     { "trim_offsets", true },
                                     { "use_regex", false } };
    const ordered_json split = { { "type", "Split" },
                                 { "pattern", { { "Regex", kPattern } } },
                                 { "behavior", "Isolated" },
                                 { "invert", false } };
    const ordered_json tokenizer
        = { { "version", "1.0" },
            { "truncation", nullptr },
            { "padding", nullptr },
            { "added_tokens", added },
            { "normalizer", nullptr },
            { "pre_tokenizer",
              { { "type", "Sequence" },
                { "pretokenizers", ordered_json::array({ split, byteLevel }) } } },
            { "post_processor", byteLevel },
            { "decoder", byteLevel },
            { "model",
              { { "type", "BPE" },
                { "dropout", nullptr },
                { "unk_token", nullptr },
                { "continuing_subword_prefix", nullptr },
                { "end_of_word_suffix", nullptr },
                { "fuse_unk", false },
                { "byte_fallback", false },
                { "ignore_merges", true },
                { "vocab", vocabulary },
                { "merges", mergeList } } } };
    return tokenizer.dump(1);
}

} // namespace firesteel::engine
