// SPDX-License-Identifier: MIT
//
// Glimmer on the GPU against the CPU and against float32 transformers. The device rounds more
// (deviceLogitTolerance), and a rounding may turn a discrete choice, an expert or a pool of tokens,
// whose effect no bound on roundings covers: such positions are counted.
#include "tests/support/golden.h"
#include "tests/support/loaded_model.h"
#include "tests/support/model_bound.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;

namespace {

// How the device's logits of some positions compare with others'.
struct Agreement
{
    std::size_t positions = 0;
    std::size_t turned = 0; // a logit beyond the bound: some choice went the other way
    std::size_t undecided = 0; // the reference's margin is within twice the bound
    std::size_t wrong = 0; // decided, not turned, and yet another winner
    double largest = 0; // difference at positions that are not turned

    void add(std::span<const float> device, std::span<const float> reference, double bound)
    {
        ++positions;
        const double difference = compare(device, reference).largest;
        const auto best = static_cast<std::size_t>(argmax(reference));
        float second = -INFINITY;
        for (std::size_t n = 0; n < reference.size(); ++n)
            if (n != best)
                second = std::max(second, reference[n]);
        const bool isDecided
            = static_cast<double>(reference[best]) - static_cast<double>(second) > 2 * bound;
        undecided += isDecided ? 0U : 1U;
        if (difference > bound) {
            ++turned;
            return;
        }
        largest = std::max(largest, difference);
        wrong += isDecided && argmax(device) != argmax(reference) ? 1U : 0U;
    }
};

void report(const char *what, const Agreement &a, double bound)
{
    MESSAGE(what << ": " << a.positions << " positions, " << a.turned << " turned, " << a.undecided
                 << " undecided, largest other difference " << a.largest << ", bound " << bound);
}

// Prompt rows and 48 decode rows, one a step, of both backends, teacher-forced by the golden.
void checkPrompt(LoadedModel &device, LoadedModel &host, const std::string &name, Agreement &prompt,
                 Agreement &steps)
{
    const auto golden = readGolden(dataPath("embedded") / ("prompt_" + name + ".safetensors"));
    const std::vector<std::int32_t> &ids = golden.at("input_ids").ints;
    const double bound = deviceLogitTolerance(host.checkpoint);
    const std::size_t vocabulary = host.vocabulary();
    const int context = static_cast<int>(ids.size()) + 64;
    engine::SequenceState onDevice = device.model->newSequence(context);
    engine::SequenceState onHost = host.model->newSequence(context);
    const std::vector<float> actual = device.prefill(onDevice, ids, ids.size());
    const std::vector<float> expected = host.prefill(onHost, ids, ids.size());
    for (std::size_t t = 0; t < ids.size(); ++t)
        prompt.add(std::span(actual).subspan(t * vocabulary, vocabulary),
                   std::span(expected).subspan(t * vocabulary, vocabulary), bound);
    const std::vector<std::int32_t> &greedy = golden.at("greedy_fp32").ints;
    for (std::size_t i = 0; i < std::min<std::size_t>(48, greedy.size()); ++i) {
        const std::vector<float> a = device.decode(onDevice, { &greedy[i], 1 });
        const std::vector<float> b = host.decode(onHost, { &greedy[i], 1 });
        onDevice.commit(1);
        onHost.commit(1);
        steps.add(a, b, bound);
    }
}

} // namespace

TEST_CASE("the embedded model on the GPU agrees with the CPU")
{
    LoadedModel *device = embeddedModelOnDevice();
    if (device == nullptr)
        return;
    Agreement prompt, steps;
    for (const char *name :
         { "short_chat", "thinking", "tool_call", "multi_turn", "json", "unicode", "count" })
        checkPrompt(*device, embeddedModel(), name, prompt, steps);
    const double bound = deviceLogitTolerance(embeddedModel().checkpoint);
    report("prefill", prompt, bound);
    report("decode", steps, bound);
    CHECK(prompt.wrong == 0);
    CHECK(steps.wrong == 0);
}

TEST_CASE("a random model without discrete choices agrees with the CPU at every position")
{
    const kernels::DeviceSearch search = kernels::findDevice();
    if (!search.device)
        return reportSkip(search.reason);
    // The widths that the device's kernels have, every expert, every visible token.
    TinyCheckpoint options { .shape = tinyExl3Shape(), .exl3 = true };
    options.shape.kda.headDim = 128;
    options.shape.mla.kvLoraRank = 512;
    options.shape.mla.qkHeadDim = 256;
    options.shape.mla.vHeadDim = 256;
    options.shape.indexer.headDim = 128;
    options.shape.indexer.topK = 512;
    options.shape.moe.expertsPerToken = options.shape.moe.experts;
    const TemporaryFolder folder;
    writeTinyCheckpoint(folder.path(), options);
    LoadedModel host(folder.path());
    LoadedModel device(folder.path(), 1, 0, kernels::openCudaQueue());
    constexpr std::size_t kPrompt = 200;
    RandomValues random(11);
    std::vector<std::int32_t> tokens(kPrompt + 9);
    for (std::int32_t &token : tokens)
        token = random.integer(0, options.shape.vocabularySize - 1);
    engine::SequenceState onDevice = device.model->newSequence(512);
    engine::SequenceState onHost = host.model->newSequence(512);
    const std::span<const std::int32_t> prompt = std::span(tokens).first(kPrompt);
    const double bound = deviceLogitTolerance(host.checkpoint);
    const Difference prefill
        = compare(device.prefill(onDevice, prompt, kPrompt), host.prefill(onHost, prompt, kPrompt));
    const std::span<const std::int32_t> rows = std::span(tokens).subspan(kPrompt);
    const Difference decode = compare(device.decode(onDevice, rows), host.decode(onHost, rows));
    MESSAGE("largest differences: prefill " << prefill.largest << ", decode " << decode.largest
                                            << ", bound " << bound << ", largest logit "
                                            << prefill.reference);
    CHECK(prefill.largest <= bound);
    CHECK(decode.largest <= bound);
}

TEST_CASE("a step of the GPU is recorded once and replayed at other positions")
{
    LoadedModel *device = embeddedModelOnDevice();
    if (device == nullptr)
        return;
    // The first step of a kind runs as it comes, the second is recorded, later ones are replayed:
    // all must give what a fresh model's first step gives.
    LoadedModel other(embeddedModelDirectory(), 1, 0, kernels::openCudaQueue());
    const std::vector<std::int32_t> prompt { 6090, 17, 42, 99, 6091, 5, 23, 7, 6092 };
    engine::SequenceState sequence = device->model->newSequence(200);
    device->prefill(sequence, prompt);
    std::vector<std::int32_t> tokens = prompt;
    for (int i = 0; i < 12; ++i) {
        const std::int32_t next = 100 + i;
        const std::vector<float> replayed = device->decode(sequence, { &next, 1 });
        sequence.commit(1);
        engine::SequenceState fresh = other.model->newSequence(200 + i); // forgets its recordings
        other.prefill(fresh, prompt);
        for (std::size_t k = prompt.size(); k < tokens.size(); ++k) {
            other.decode(fresh, { &tokens[k], 1 });
            fresh.commit(1);
        }
        CHECK(other.decode(fresh, { &next, 1 }) == replayed);
        tokens.push_back(next);
    }
}

TEST_CASE("golden logits of the BF16 model on the GPU")
{
    LoadedModel *device = trainedModelOnDevice();
    const auto goldens = goldenDirectory();
    if (device == nullptr || !goldens)
        return;
    const double bound = deviceLogitTolerance(device->checkpoint);
    const std::size_t vocabulary = device->vocabulary();
    Agreement last;
    std::size_t decided = 0, right = 0, greedyDecided = 0, greedyRight = 0, positions = 0;
    for (const char *name :
         { "short_chat", "thinking", "tool_call", "tool_result", "multi_turn", "code", "count",
           "empty", "json", "story", "system", "unicode", "retrieval_200", "retrieval_1500" }) {
        const auto golden = readGolden(*goldens / (std::string("prompt_") + name + ".safetensors"));
        const std::vector<std::int32_t> &ids = golden.at("input_ids").ints;
        engine::SequenceState sequence
            = device->model->newSequence(static_cast<int>(ids.size()) + 64);
        const std::vector<float> logits = device->prefill(sequence, ids, ids.size());
        const GoldenTensor &expected = golden.at("logits_last8_fp32");
        const std::size_t rows = expected.values.size() / vocabulary;
        for (std::size_t t = 0; t < rows; ++t)
            last.add(std::span(logits).subspan((ids.size() - rows + t) * vocabulary, vocabulary),
                     std::span(expected.values).subspan(t * vocabulary, vocabulary), bound);
        const GoldenTensor &values = golden.at("top32_values_fp32");
        const GoldenTensor &top = golden.at("top32_ids_fp32");
        const auto count = [&](std::span<const float> row, std::int32_t best, double margin,
                               std::size_t &ofDecided, std::size_t &ofRight) {
            if (margin <= 2 * bound)
                return;
            ++ofDecided;
            ofRight += argmax(row) == best ? 1U : 0U;
        };
        positions += ids.size();
        for (std::size_t t = 0; t < ids.size(); ++t)
            count(std::span(logits).subspan(t * vocabulary, vocabulary), top.ints[t * 32],
                  static_cast<double>(values.values[t * 32])
                      - static_cast<double>(values.values[t * 32 + 1]),
                  decided, right);
        std::vector<float> row { logits.end() - static_cast<std::ptrdiff_t>(vocabulary),
                                 logits.end() };
        const std::vector<std::int32_t> &greedy = golden.at("greedy_fp32").ints;
        for (std::size_t i = 0; i < std::min<std::size_t>(64, greedy.size()); ++i) {
            const auto best = static_cast<std::size_t>(argmax(row));
            float second = -INFINITY;
            for (std::size_t n = 0; n < row.size(); ++n)
                if (n != best)
                    second = std::max(second, row[n]);
            count(row, greedy[i], static_cast<double>(row[best]) - static_cast<double>(second),
                  greedyDecided, greedyRight);
            row = device->decode(sequence, { &greedy[i], 1 });
            sequence.commit(1);
        }
    }
    report("last rows of the prompts", last, bound);
    MESSAGE(positions << " prompt positions, " << decided << " decided, " << right
                      << " of them the golden's; greedy: " << greedyDecided << " decided, "
                      << greedyRight << " the golden's");
    CHECK(right == decided);
    CHECK(greedyRight == greedyDecided);
    CHECK(last.turned == 0);
}
