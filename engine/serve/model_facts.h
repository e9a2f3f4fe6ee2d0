// SPDX-License-Identifier: MIT
//
// What client threads need of a loaded model: its tokenizer and limits. Immutable; shared between
// the engine thread, which publishes it after a load, and every caller of Engine::prepare,
// countTokens and submit.
#pragma once

#include "engine/api/engine.h"
#include "engine/decode/answer_constraint.h"
#include "engine/grammar/grammar.h"
#include "engine/serve/load_budget.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace firesteel::engine {

// For estimates of the next load.
struct LoadedSize
{
    CheckpointSize checkpoint;
    // Memory that the model gives back when it goes; the files it maps are not part of it.
    std::uint64_t heldBytes = 0;
};

class ModelFacts
{
public:
    ModelFacts(Tokenizer tokenizer, ModelInfo info, std::vector<std::int32_t> eosTokenIds,
               LoadedSize size);

    const Tokenizer &tokenizer() const { return m_tokenizer; }
    const ModelInfo &info() const { return m_info; }
    const std::vector<std::int32_t> &eosTokenIds() const { return m_eosTokenIds; }
    const LoadedSize &size() const { return m_size; }
    std::span<const std::uint64_t> mappedTokens() const
    {
        return m_mappedTokens;
    } // one bit per id, see TokenMask

    // Errors: BadRequest, ContextExceeded.
    Result<Prompt> prepare(std::span<const Message> messages, std::span<const Tool> tools,
                           const PromptOptions &options) const;

    // What the format holds an answer to; null where that is nothing. Errors: BadRequest naming
    // what in the schema or the tools is not supported.
    Result<std::shared_ptr<const Grammar>> grammarOf(const AnswerFormat &format) const;
    std::shared_ptr<const AnswerTokens> answerTokens() const; // made at the first call

    // Everything else about a request that can be refused before it waits. Errors: BadRequest
    // (names the parameter), ContextExceeded.
    Result<void> check(const GenerationRequest &request) const;

private:
    Result<void> checkLength(std::size_t promptTokens) const;

    Tokenizer m_tokenizer;
    ModelInfo m_info;
    std::vector<std::int32_t> m_eosTokenIds;
    LoadedSize m_size;
    std::vector<std::uint64_t> m_mappedTokens;
    mutable std::once_flag m_hasAnswerTokens;
    mutable std::shared_ptr<const AnswerTokens> m_answerTokens;
};

// Errors: BadRequest naming the parameter, its value and its range.
Result<void> checkSampling(const SamplingParams &params, int vocabularySize);

} // namespace firesteel::engine
