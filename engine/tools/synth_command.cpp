// SPDX-License-Identifier: MIT
#include "engine/tools/synth_command.h"

#include "engine/base/system_memory.h"
#include "engine/tools/cli_request.h"
#include "engine/tools/cli_terminal.h"
#include "engine/tools/synth.h"
#include "engine/tools/synth_shapes.h"

#include <chrono>
#include <format>
#include <optional>
#include <string>

namespace firesteel::engine {

namespace {

using Clock = std::chrono::steady_clock;

Result<SynthOptions> synthOptions(const CliOptions &options)
{
    std::optional<ModelShape> shape = namedShape(options.shapeName);
    if (!shape)
        return fail(ErrorCode::BadRequest,
                    std::format("--shape: '{}' is unknown; glm-5.3-flash and glimmer are known",
                                options.shapeName));
    if (options.layers) {
        if (*options.layers < kLeastLayers || *options.layers > shape->layerCount)
            return fail(ErrorCode::BadRequest,
                        std::format("--layers: {} layers are too few or too many for {}; {} to {} "
                                    "are possible",
                                    *options.layers, options.shapeName, kLeastLayers,
                                    shape->layerCount));
        shape = firstLayers(std::move(*shape), *options.layers);
    }
    return SynthOptions { .shape = std::move(*shape),
                          .out = options.out,
                          .headersOnly = options.headersOnly,
                          .seed = options.seed.value_or(1),
                          .threads = options.threads };
}

// One line on a terminal, renewed now and then.
class ProgressLine
{
public:
    ~ProgressLine()
    {
        if (m_isShown)
            writeError("\n");
    }

    void show(std::uint64_t done, std::uint64_t total)
    {
        using namespace std::chrono_literals;
        const Clock::time_point now = Clock::now();
        if (!isErrorTerminal() || (done < total && now - m_shown < 200ms))
            return;
        m_shown = now;
        m_isShown = true;
        const std::chrono::duration<double> spent = now - m_start;
        const double left = spent.count() * static_cast<double>(total - done)
            / static_cast<double>(std::max<std::uint64_t>(done, 1));
        writeError(std::format("\r{} of {}, {:.0f} s left\x1B[K", formatBytes(done),
                               formatBytes(total), left));
    }

private:
    Clock::time_point m_start = Clock::now();
    Clock::time_point m_shown;
    bool m_isShown = false;
};

} // namespace

int runSynth(const CliOptions &options, const CliSignals &signals)
{
    const auto synth = synthOptions(options);
    if (!synth)
        return reportError(synth.error());
    const auto summary = [&] {
        ProgressLine line;
        return writeSyntheticPack(*synth, [&](std::uint64_t done, std::uint64_t total) {
            line.show(done, total);
            return signals.take() == CliSignal::None;
        });
    }();
    if (!summary)
        return reportError(summary.error());
    const std::string text = std::format("{}: {} tensors, {} bytes ({}) in {} files\n",
                                         options.out.string(), summary->tensors, summary->bytes,
                                         formatBytes(summary->bytes), summary->files);
    return writeOutput(text) ? 0 : kExitFailure;
}

} // namespace firesteel::engine
