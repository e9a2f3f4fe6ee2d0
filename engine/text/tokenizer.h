// SPDX-License-Identifier: MIT
//
// Byte-level BPE exactly as tokenizer.json of the GLM family defines it (spec/chat-format.md
// section 1): added tokens are matched first, then the pre-tokenizer regex, then merges by rank,
// whole pre-tokens that are in the vocabulary taken as they are when ignore_merges says so.
// Immutable and usable from any thread.
#pragma once

#include "engine/api/error.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

class Tokenizer
{
public:
    // Errors: NotFound, Io, BadCheckpoint (names the file and the field; a tokenizer of another
    // kind is refused by name).
    static Result<Tokenizer> load(const std::filesystem::path &tokenizerJson);
    static Result<Tokenizer> parse(std::string_view json, std::string_view fileName);

    Tokenizer(Tokenizer &&) noexcept;
    Tokenizer &operator=(Tokenizer &&) noexcept;
    ~Tokenizer();

    // Any bytes; invalid UTF-8 is tokenised as U+FFFD, as the reference does for its input.
    std::vector<std::int32_t> encode(std::string_view text) const;

    // The same without matching added tokens: what a person typed as "<|user|>" stays text. Equals
    // encode() where `text` holds no added token.
    std::vector<std::int32_t> encodeOrdinary(std::string_view text) const;

    // Text of whole sequences. Bytes that are not valid UTF-8 become U+FFFD. Ids without a token
    // decode to nothing.
    std::string decode(std::span<const std::int32_t> ids, bool skipSpecial = false) const;

    // Raw bytes of one token (may be part of a character); an added token's literal text; empty for
    // an unmapped id.
    std::string_view tokenBytes(std::int32_t id) const;

    // Added token -> id, e.g. "<think>".
    std::optional<std::int32_t> addedTokenId(std::string_view token) const;
    bool isAdded(std::int32_t id) const;
    bool isSpecial(std::int32_t id) const;
    bool isMapped(std::int32_t id) const; // has a token; others must never be sampled
    int size() const; // 1 + the highest mapped id

    // A digest of the whole file as 16 hexadecimal digits. Two that are alike tokenise alike.
    std::string digest() const;

private:
    struct Impl;
    explicit Tokenizer(std::unique_ptr<const Impl> impl);

    std::unique_ptr<const Impl> m_impl;
};

} // namespace firesteel::engine
