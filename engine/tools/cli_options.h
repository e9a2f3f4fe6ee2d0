// SPDX-License-Identifier: MIT
//
// The command line of firesteel-cli as values. Pure: reads no environment, opens no file.
#pragma once

#include "engine/api/engine.h"
#include "engine/api/error.h"
#include "engine/api/request.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct CliOptions
{
    enum class Command {
        Generate,
        Chat,
        Inspect,
        Synth,
        Quantize,
        Eval,
        BenchSpeculate,
        BenchDecode,
        BenchPrefill,
        BenchLoad,
        Help,
        Version
    };
    Command command = Command::Help;

    std::filesystem::path model; // empty: to be looked up
    std::filesystem::path drafterModel; // empty: the folder "drafter" beside the model, if any
    Drafting drafting;
    int threads = 0;
    ProcessorChoice processor = ProcessorChoice::Auto;
    int contextTokens = 0;
    bool isVerbose = false;

    std::optional<std::string> prompt; // "-": standard input
    std::string system;
    std::filesystem::path toolsFile;
    std::filesystem::path schemaFile;
    PromptOptions promptOptions;
    bool showsThinking = false;
    bool printsJson = false;
    bool listsEveryTensor = false; // inspect

    std::filesystem::path out; // synth, quantize

    // synth
    std::string shapeName;
    std::optional<int> layers;
    bool headersOnly = false;

    // bench decode, bench prefill; the shape and layers as synth
    int multiprocessors = 0; // 0: all
    std::vector<int> rows { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    double overlap = 0.6;

    // quantize
    std::filesystem::path source;
    std::filesystem::path rates;
    std::filesystem::path calibration;
    std::filesystem::path hessians;
    kernels::Exl3Codebook codebook = kernels::Exl3Codebook::Mul1;
    bool usesCpuOnly = false;

    // eval
    std::filesystem::path teacher;
    std::filesystem::path text;

    // Unset: the model's default.
    std::optional<float> temperature;
    std::optional<float> topP;
    std::optional<int> topK;
    std::optional<float> minP;
    std::optional<float> repetitionPenalty;
    std::optional<std::uint64_t> seed;
    std::optional<int> maxTokens;
    std::vector<std::string> stop;
};

// `arguments`: without the program's name. Errors: BadRequest, one line for a person.
Result<CliOptions> parseCliOptions(std::span<const std::string_view> arguments);

std::string cliHelp();

// `defaults` with what the command line says instead.
SamplingParams samplingOf(const CliOptions &options, SamplingParams defaults);

} // namespace firesteel::engine
