// SPDX-License-Identifier: MIT
#include "engine/tools/quantize_command.h"

#include "engine/base/system_memory.h"
#include "engine/quantize/checkpoint_quantizer.h"
#include "engine/tools/cli_request.h"
#include "engine/tools/cli_terminal.h"
#include "engine/tools/cli_work.h"
#include "kernels/common/device.h"

#include <format>
#include <memory>
#include <string_view>

namespace firesteel::engine {

namespace {

std::string_view stageName(QuantizeProgress::Stage stage)
{
    switch (stage) {
    case QuantizeProgress::Stage::Calibrating:
        return "calibrating";
    case QuantizeProgress::Stage::Quantizing:
        return "quantizing";
    case QuantizeProgress::Stage::Writing:
        break;
    }
    return "writing";
}

std::string reportText(const QuantizeReport &report)
{
    std::string text;
    for (const std::string &note : report.notes)
        text += std::format("note: {}\n", note);
    text += std::format(
        "{} matrices, {:.1f} million weights at {:.3f} bits; proxy error {:.5f}; {} "
        "before, {} now",
        report.quantized, static_cast<double>(report.quantizedWeights) / 1e6, report.bitsPerWeight,
        report.meanProxyError, formatBytes(report.sourceBytes), formatBytes(report.targetBytes));
    if (report.resumed > 0)
        text += std::format("; {} matrices were there from an earlier run", report.resumed);
    return text + "\n";
}

} // namespace

int runQuantize(const CliOptions &options, const CliSignals &signals)
{
    const CancelToken cancel;
    const CancelOnSignal watch(signals, cancel);
    const kernels::DeviceSearch search = kernels::findDevice();
    const bool usesGpu = search.device && !options.usesCpuOnly;
    if (!options.usesCpuOnly)
        writeErrorLine(usesGpu ? std::format("searching on {}", search.device->name)
                               : search.reason);
    kernels::Stream stream(options.threads, usesGpu ? kernels::openCudaQueue() : nullptr);
    QuantizeOptions quantize { .source = options.source,
                               .target = options.out,
                               .rates = options.rates,
                               .calibration = options.calibration,
                               .hessians = options.hessians,
                               .codebook = options.codebook,
                               .threads = options.threads };
    if (options.contextTokens > 0)
        quantize.windowTokens = options.contextTokens;
    Result<QuantizeReport> report;
    {
        ProgressLine line;
        report = quantizeCheckpoint(
            quantize, stream,
            [&](const QuantizeProgress &progress) {
                line.show(stageName(progress.stage), progress.fraction, progress.secondsLeft,
                          progress.module);
            },
            cancel);
    }
    if (!report)
        return reportError(report.error());
    return writeOutput(reportText(*report)) ? 0 : kExitFailure;
}

} // namespace firesteel::engine
