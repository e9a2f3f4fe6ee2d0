// SPDX-License-Identifier: MIT
//
// firesteel-cli: the engine without a window. Finds the model and hands over to one command; the
// only file of the engine that reads the environment.
#include "engine/tools/bench_load_command.h"
#include "engine/tools/bench_speculate_command.h"
#include "engine/tools/bench_synthetic_command.h"
#include "engine/tools/chat_command.h"
#include "engine/tools/cli_options.h"
#include "engine/tools/cli_request.h"
#include "engine/tools/cli_signals.h"
#include "engine/tools/cli_terminal.h"
#include "engine/tools/eval_command.h"
#include "engine/tools/generate_command.h"
#include "engine/tools/inspect.h"
#include "engine/tools/quantize_command.h"
#include "engine/tools/synth_command.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>
#include <vector>

using namespace firesteel::engine;

namespace {

// The model that comes with the program: ../share/firesteel beside an installed one, resources/
// above one in a build folder.
std::filesystem::path embeddedModel()
{
    std::error_code error;
    const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
    std::filesystem::path folder = executable.parent_path();
    std::vector<std::filesystem::path> candidates { folder / "../share/firesteel/glimmer/model" };
    for (; folder.has_relative_path(); folder = folder.parent_path())
        candidates.push_back(folder / "resources/glimmer/model");
    for (const std::filesystem::path &candidate : candidates)
        if (std::filesystem::exists(candidate / "config.json", error))
            return candidate.lexically_normal();
    return {};
}

std::filesystem::path findModel(const std::filesystem::path &named)
{
    if (!named.empty())
        return named;
    if (const char *variable = std::getenv("FIRESTEEL_MODEL");
        variable != nullptr && *variable != '\0')
        return variable;
    return embeddedModel();
}

// A drafter lies beside its model, where the program keeps both.
std::filesystem::path findDrafter(const CliOptions &options)
{
    if (!options.drafterModel.empty() || options.drafting.drafter == DrafterKind::None
        || options.drafting.drafter == DrafterKind::Lookup)
        return options.drafterModel;
    std::error_code error;
    const std::filesystem::path beside
        = std::filesystem::absolute(options.model).lexically_normal().parent_path() / "drafter";
    return std::filesystem::exists(beside / "config.json", error) ? beside
                                                                  : std::filesystem::path();
}

int runInspect(const CliOptions &options)
{
    InspectOptions inspect { .model = options.model };
    if (options.contextTokens > 0)
        inspect.contexts = { options.contextTokens };
    inspect.listsEveryTensor = options.listsEveryTensor;
    inspect.printsJson = options.printsJson;
    const auto inspection = inspectModel(inspect);
    if (!inspection)
        return reportError(inspection.error());
    return writeOutput(inspection->text) && inspection->isUsable ? 0 : kExitFailure;
}

int runCommand(CliOptions options)
{
    if (options.command == CliOptions::Command::Help)
        return writeOutput(cliHelp()) ? 0 : kExitFailure;
    if (options.command == CliOptions::Command::Version)
        return writeOutput("firesteel-cli " FIRESTEEL_VERSION "\n") ? 0 : kExitFailure;

    if (options.command == CliOptions::Command::Synth) {
        const CliSignals signals;
        return runSynth(options, signals);
    }
    if (options.command == CliOptions::Command::Quantize)
        return runQuantize(options, CliSignals());
    if (options.command == CliOptions::Command::BenchDecode)
        return runBenchDecode(options);
    if (options.command == CliOptions::Command::BenchPrefill)
        return runBenchPrefill(options);
    options.model = findModel(options.model);
    if (options.model.empty()) {
        return reportError({ ErrorCode::BadRequest,
                             "there is no model: name a folder with --model DIR or in the variable "
                             "FIRESTEEL_MODEL" });
    }
    if (options.command == CliOptions::Command::Inspect)
        return runInspect(options);
    if (options.command == CliOptions::Command::BenchLoad)
        return runBenchLoad(options);
    const CliSignals signals;
    if (options.command == CliOptions::Command::Eval)
        return runEval(options, signals);
    options.drafterModel = findDrafter(options);
    if (options.command == CliOptions::Command::BenchSpeculate)
        return runBenchSpeculate(options, signals);
    if (options.command == CliOptions::Command::Chat)
        return runChat(options, signals);
    return runGenerate(options, signals);
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const std::vector<std::string_view> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
        auto options = parseCliOptions(arguments);
        return options ? runCommand(std::move(*options)) : reportError(options.error());
    } catch (const std::exception &error) {
        return reportError({ ErrorCode::Internal, error.what() });
    }
}
