// SPDX-License-Identifier: MIT
//
// Reads tokenizer.json (Hugging Face `tokenizers` 1.0 format) of a byte-level BPE and refuses, by
// name, every setting that the tokenizer does not implement. Used by Tokenizer only.
#pragma once

#include "engine/api/error.h"
#include "engine/text/added_tokens.h"
#include "engine/text/merge_table.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/vocabulary.h"

#include <string_view>
#include <vector>

namespace firesteel::engine {

struct TokenizerFile
{
    Vocabulary vocabulary; // base tokens as bytes; added tokens hidden
    MergeTable merges;
    std::vector<AddedToken> addedTokens;
    PreTokenizer preTokenizer;
    bool ignoreMerges = false; // a whole pre-token of the vocabulary is taken as it is
};

// Errors: BadCheckpoint, "<fileName>: <field>: what was expected".
Result<TokenizerFile> readTokenizerFile(std::string_view json, std::string_view fileName);

} // namespace firesteel::engine
