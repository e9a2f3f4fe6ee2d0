// SPDX-License-Identifier: MIT
#include "engine/text/tokenizer_file.h"

#include "engine/base/json_problem.h"
#include "engine/base/printable.h"
#include "engine/text/byte_alphabet.h"

#include <format>
#include <optional>
#include <simdjson.h>
#include <string>
#include <utility>

namespace firesteel::engine {

namespace {

namespace dom = simdjson::dom;

// Thrown inside this file only: reading is a long chain of "must be", and each failure ends it with
// one line.
struct BadFile
{
    std::string why;
};

[[noreturn]] void refuse(std::string_view field, std::string_view why)
{
    throw BadFile { std::format("{}: {}", field, why) };
}

std::string excerpt(std::string_view text) { return '"' + printable(text, 60) + '"'; }

bool isAbsent(dom::element parent, std::string_view key)
{
    dom::element value;
    return parent[key].get(value) != simdjson::SUCCESS || value.is_null();
}

template <typename T>
T require(dom::element parent, std::string_view path, std::string_view key, std::string_view what)
{
    T value;
    if (parent[key].get(value) != simdjson::SUCCESS)
        refuse(path.empty() ? std::string(key) : std::format("{}.{}", path, key),
               std::format("expected {}", what));
    return value;
}

void requireFlag(dom::element parent, std::string_view path, std::string_view key, bool expected)
{
    if (require<bool>(parent, path, key, "true or false") != expected)
        refuse(std::format("{}.{}", path, key), std::format("only {} is supported", expected));
}

void requireType(dom::element parent, std::string_view path, std::string_view expected)
{
    const auto type = require<std::string_view>(parent, path, "type", "a string");
    if (type != expected)
        refuse(path,
               std::format("type {} is not supported, only {}", excerpt(type), excerpt(expected)));
}

std::int32_t requireId(dom::element value, std::string_view field)
{
    std::int64_t id = 0;
    if (value.get(id) != simdjson::SUCCESS || id < 0 || id >= Vocabulary::kMaxTokens)
        refuse(field, std::format("expected an id from 0 to {}", Vocabulary::kMaxTokens - 1));
    return static_cast<std::int32_t>(id);
}

Vocabulary readVocabulary(dom::element model)
{
    const auto entries = require<dom::object>(model, "model", "vocab", "an object");
    Vocabulary vocabulary(entries.size());
    for (const auto &[key, value] : entries) {
        const std::string field = std::format("model.vocab[{}]", excerpt(key));
        const std::int32_t id = requireId(value, field);
        const std::optional<std::string> bytes = bytesOfAlphabet(key);
        if (!bytes || bytes->empty())
            refuse(field, "not a byte-level token");
        if (vocabulary.add(*bytes, id) != Vocabulary::Added::Ok)
            refuse(field, std::format("the token or its id {} occurs twice", id));
    }
    for (int byte = 0; byte < 256; ++byte) {
        if (vocabulary.find(std::string(1, static_cast<char>(byte))) == Vocabulary::kNone)
            refuse("model.vocab", std::format("no token for the single byte 0x{:02X}", byte));
    }
    return vocabulary;
}

// Both forms of the format: ["a", "b"] and "a b".
std::pair<std::string_view, std::string_view> mergeParts(dom::element entry, std::uint32_t rank)
{
    std::string_view text;
    if (entry.get(text) == simdjson::SUCCESS) {
        const std::size_t space = text.find(' ');
        if (space != std::string_view::npos && text.find(' ', space + 1) == std::string_view::npos)
            return { text.substr(0, space), text.substr(space + 1) };
    }
    dom::array pair;
    std::string_view left;
    std::string_view right;
    if (entry.get(pair) == simdjson::SUCCESS && pair.size() == 2
        && pair.at(0).get(left) == simdjson::SUCCESS && pair.at(1).get(right) == simdjson::SUCCESS)
        return { left, right };
    refuse(std::format("model.merges[{}]", rank), R"(expected ["a", "b"] or "a b")");
}

MergeTable readMerges(dom::element model, const Vocabulary &vocabulary)
{
    const auto entries = require<dom::array>(model, "model", "merges", "an array");
    MergeTable merges(entries.size());
    std::uint32_t rank = 0;
    for (const dom::element entry : entries) {
        const auto [left, right] = mergeParts(entry, rank);
        const auto find = [&](const std::string &bytes, std::string_view shown) {
            const std::int32_t id = vocabulary.find(bytes);
            if (id == Vocabulary::kNone)
                refuse(std::format("model.merges[{}]", rank),
                       std::format("{} is not in the vocabulary", excerpt(shown)));
            return id;
        };
        const std::string leftBytes = bytesOfAlphabet(left).value_or("");
        const std::string rightBytes = bytesOfAlphabet(right).value_or("");
        const std::int32_t result
            = find(leftBytes + rightBytes, std::string(left) + std::string(right));
        merges.set(find(leftBytes, left), find(rightBytes, right), { rank, result });
        ++rank;
    }
    return merges;
}

void checkModel(dom::element model)
{
    requireType(model, "model", "BPE");
    double dropout = 0;
    if (!isAbsent(model, "dropout")
        && (model["dropout"].get(dropout) != simdjson::SUCCESS || dropout != 0))
        refuse("model.dropout", "only null is supported");
    for (const std::string_view key :
         { "unk_token", "continuing_subword_prefix", "end_of_word_suffix" }) {
        std::string_view text;
        if (!isAbsent(model, key) && (model[key].get(text) != simdjson::SUCCESS || !text.empty()))
            refuse(std::format("model.{}", key), "only null is supported");
    }
    if (!isAbsent(model, "byte_fallback"))
        requireFlag(model, "model", "byte_fallback", false);
}

PreTokenizer readPreTokenizer(dom::element root)
{
    constexpr std::string_view kField = "pre_tokenizer";
    constexpr std::string_view kSplit = "pre_tokenizer.pretokenizers[0]";
    constexpr std::string_view kBytes = "pre_tokenizer.pretokenizers[1]";
    const auto sequence = require<dom::element>(root, "", kField, "an object");
    requireType(sequence, kField, "Sequence");
    const auto steps = require<dom::array>(sequence, kField, "pretokenizers", "an array");
    dom::element split;
    dom::element bytes;
    if (steps.size() != 2 || steps.at(0).get(split) != simdjson::SUCCESS
        || steps.at(1).get(bytes) != simdjson::SUCCESS)
        refuse("pre_tokenizer.pretokenizers", "expected a Split and a ByteLevel");
    requireType(split, kSplit, "Split");
    if (require<std::string_view>(split, kSplit, "behavior", "a string") != "Isolated")
        refuse(std::format("{}.behavior", kSplit), "only Isolated is supported");
    requireFlag(split, kSplit, "invert", false);
    requireType(bytes, kBytes, "ByteLevel");
    requireFlag(bytes, kBytes, "add_prefix_space", false);
    requireFlag(bytes, kBytes, "use_regex", false);

    const auto pattern = require<dom::element>(split, kSplit, "pattern", "an object");
    const std::string field = std::format("{}.pattern", kSplit);
    auto compiled = PreTokenizer::compile(
        require<std::string_view>(pattern, field, "Regex", "a string"), field + ".Regex");
    if (!compiled)
        throw BadFile { compiled.error().message };
    return std::move(*compiled);
}

// Stages that must be absent, or the byte-level one that changes no ids.
void checkOtherStages(dom::element root)
{
    if (!isAbsent(root, "normalizer"))
        refuse("normalizer", "only null is supported");
    if (!isAbsent(root, "post_processor"))
        requireType(root["post_processor"].value_unsafe(), "post_processor", "ByteLevel");
    requireType(require<dom::element>(root, "", "decoder", "an object"), "decoder", "ByteLevel");
}

AddedToken readAddedToken(dom::element entry, std::string_view field)
{
    AddedToken token;
    token.id = requireId(require<dom::element>(entry, field, "id", "a number"),
                         std::format("{}.id", field));
    token.content = require<std::string_view>(entry, field, "content", "a string");
    if (token.content.empty())
        refuse(std::format("{}.content", field), "must not be empty");
    for (const std::string_view flag : { "single_word", "lstrip", "rstrip" })
        requireFlag(entry, std::format("{} {}", field, excerpt(token.content)), flag, false);
    token.special = require<bool>(entry, field, "special", "true or false");
    token.normalized = require<bool>(entry, field, "normalized", "true or false");
    return token;
}

std::vector<AddedToken> readAddedTokens(dom::element root, Vocabulary &vocabulary)
{
    std::vector<AddedToken> tokens;
    if (isAbsent(root, "added_tokens"))
        return tokens;
    Vocabulary seen; // by literal text
    for (const dom::element entry : require<dom::array>(root, "", "added_tokens", "an array")) {
        const std::string field = std::format("added_tokens[{}]", tokens.size());
        AddedToken token = readAddedToken(entry, field);
        if (seen.add(token.content, token.id) != Vocabulary::Added::Ok)
            refuse(field,
                   std::format("{} or its id {} occurs twice", excerpt(token.content), token.id));
        // Decoding treats an added token like any other, so one made of the alphabet's characters
        // stands for bytes.
        const std::string bytes = bytesOfAlphabet(token.content).value_or(token.content);
        const std::int32_t known = vocabulary.find(bytes);
        if (known == Vocabulary::kNone
                ? vocabulary.addHidden(bytes, token.id) != Vocabulary::Added::Ok
                : known != token.id)
            refuse(field,
                   std::format("{} with id {} contradicts model.vocab", excerpt(token.content),
                               token.id));
        tokens.push_back(std::move(token));
    }
    return tokens;
}

} // namespace

Result<TokenizerFile> readTokenizerFile(std::string_view json, std::string_view fileName)
{
    const auto bad = [fileName](std::string_view why) {
        return fail(ErrorCode::BadCheckpoint, std::format("{}: {}", printable(fileName), why));
    };
    if (json.empty()) // simdjson copies from the pointer, which may be null then
        return bad(jsonProblem(simdjson::EMPTY));
    dom::parser parser;
    dom::element root;
    if (const auto error = parser.parse(json.data(), json.size()).get(root))
        return bad(jsonProblem(error));
    try {
        const auto model = require<dom::element>(root, "", "model", "an object");
        checkModel(model);
        checkOtherStages(root);
        PreTokenizer preTokenizer = readPreTokenizer(root);
        const bool ignoreMerges = !isAbsent(model, "ignore_merges")
            && require<bool>(model, "model", "ignore_merges", "true or false");
        Vocabulary vocabulary = readVocabulary(model);
        MergeTable merges = readMerges(model, vocabulary);
        std::vector<AddedToken> addedTokens = readAddedTokens(root, vocabulary);
        return TokenizerFile { std::move(vocabulary), std::move(merges), std::move(addedTokens),
                               std::move(preTokenizer), ignoreMerges };
    } catch (const BadFile &file) {
        return bad(file.why);
    }
}

} // namespace firesteel::engine
