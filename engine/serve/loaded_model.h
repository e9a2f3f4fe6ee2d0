// SPDX-License-Identifier: MIT
//
// A model folder brought into memory within a budget: weights, kernels' threads, the
// sequences that requests use in turn, and the facts that clients need. Owned by the engine thread.
#pragma once

#include "engine/api/engine.h"
#include "engine/base/cancel_token.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/decode/dflash2_drafter.h"
#include "engine/model/model.h"
#include "engine/serve/model_facts.h"
#include "engine/serve/processor.h"
#include "engine/serve/sequence_slots.h"
#include "kernels/common/stream.h"

#include <functional>
#include <memory>
#include <vector>

namespace firesteel::engine {

class LoadedModel
{
public:
    // Errors: what Checkpoint, Tokenizer and Model::load give, BadRequest (context or threads out
    // of range), OutOfMemory (with what is needed and what there is), Internal (the device failed),
    // Cancelled.
    static Result<std::unique_ptr<LoadedModel>>
    load(const LoadOptions &options, const std::function<void(LoadProgress)> &progress,
         const CancelToken &cancel);

    Model &model() { return *m_model; }
    const std::shared_ptr<const ModelFacts> &facts() const { return m_facts; }

    SequenceSlots &slots() { return *m_slots; }
    // Of a prompt that is read alone; a multiple of Model::kPrefillAlignment.
    int prefillTokens() const { return m_prefillTokens; }
    // [rows, vocabulary] for the rows of one step.
    std::span<float> logits(std::size_t rows);
    // [rows, tap layers, hidden] for the drafter; empty without one.
    std::span<float> taps(std::size_t rows);
    Dflash2Drafter *dflash2() { return m_dflash2.get(); } // null without one

private:
    // load(), with kernels::DeviceError for what fails on the device.
    static Result<std::unique_ptr<LoadedModel>>
    loadOrThrow(const LoadOptions &options, const std::function<void(LoadProgress)> &progress,
                const CancelToken &cancel);
    LoadedModel(Checkpoint checkpoint, int threads, const Processor &processor);

    Checkpoint m_checkpoint;
    kernels::Stream m_stream;
    std::unique_ptr<kernels::Stream> m_hostStream; // of the drafter, where the model is elsewhere
    std::unique_ptr<Model> m_model;
    std::unique_ptr<SequenceSlots> m_slots;
    int m_prefillTokens;
    std::unique_ptr<Dflash2Drafter> m_dflash2;
    std::vector<float> m_logits, m_taps;
    std::shared_ptr<const ModelFacts> m_facts;
};

} // namespace firesteel::engine
