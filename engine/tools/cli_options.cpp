// SPDX-License-Identifier: MIT
#include "engine/tools/cli_options.h"

#include "kernels/common/step.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <format>
#include <limits>
#include <ranges>
#include <system_error>

namespace firesteel::engine {

namespace {

using Command = CliOptions::Command;

// Which commands an option belongs to.
constexpr unsigned kGenerate = 1;
constexpr unsigned kChat = 2;
constexpr unsigned kInspect = 4;
constexpr unsigned kSynth = 8;
constexpr unsigned kQuantize = 16;
constexpr unsigned kEval = 32;
constexpr unsigned kBench = 64;
constexpr unsigned kSynthetic = 128;
constexpr unsigned kLoad = 256;
constexpr unsigned kTalk = kGenerate | kChat;

struct Option
{
    std::string_view name;
    std::string_view value; // its word in the help; empty: a switch
    unsigned commands;
    std::string_view help;
    bool (*apply)(CliOptions &options, std::string_view value); // false: the value has no meaning
};

template <typename T> bool parseNumber(std::string_view text, T &number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc {} || end != text.data() + text.size())
        return false;
    if constexpr (std::is_floating_point_v<T>)
        return std::isfinite(number);
    return true;
}

template <auto Member> bool setNumber(CliOptions &options, std::string_view value)
{
    auto &target = options.*Member;
    if constexpr (requires { target.value(); })
        return parseNumber(value, target.emplace());
    else
        return parseNumber(value, target);
}

bool setEffort(CliOptions &options, std::string_view value)
{
    constexpr std::array<std::pair<std::string_view, ReasoningEffort>, 3> kEfforts { {
        { "low", ReasoningEffort::Low },
        { "high", ReasoningEffort::High },
        { "max", ReasoningEffort::Max },
    } };
    const auto *effort
        = std::ranges::find(kEfforts, value, &std::pair<std::string_view, ReasoningEffort>::first);
    if (effort == kEfforts.end())
        return false;
    options.promptOptions.effort = effort->second;
    return true;
}

bool setDraftTokens(CliOptions &options, std::string_view value)
{
    options.drafting.tokens.reset();
    return value == "auto" || parseNumber(value, options.drafting.tokens.emplace());
}

bool setDrafter(CliOptions &options, std::string_view value)
{
    for (const DrafterKind kind :
         { DrafterKind::Auto, DrafterKind::None, DrafterKind::Lookup, DrafterKind::Dflash2 }) {
        if (value == drafterName(kind)) {
            options.drafting.drafter = kind;
            return true;
        }
    }
    return false;
}

bool setProcessor(CliOptions &options, std::string_view value)
{
    constexpr std::array<std::pair<std::string_view, ProcessorChoice>, 3> kChoices { {
        { "auto", ProcessorChoice::Auto },
        { "cpu", ProcessorChoice::Cpu },
        { "gpu", ProcessorChoice::Gpu },
    } };
    const auto *choice
        = std::ranges::find(kChoices, value, &std::pair<std::string_view, ProcessorChoice>::first);
    if (choice == kChoices.end())
        return false;
    options.processor = choice->second;
    return true;
}

// "1,2,6"
bool setRows(CliOptions &options, std::string_view value)
{
    options.rows.clear();
    for (const auto part : std::views::split(value, ',')) {
        int rows = 0;
        if (!parseNumber(std::string_view(part), rows) || rows < 1
            || rows > kernels::kMaxSequenceRows)
            return false;
        options.rows.push_back(rows);
    }
    return !options.rows.empty();
}

bool setOverlap(CliOptions &options, std::string_view value)
{
    return parseNumber(value, options.overlap) && options.overlap >= 0 && options.overlap <= 1;
}

bool setCodebook(CliOptions &options, std::string_view value)
{
    constexpr std::array<std::pair<std::string_view, kernels::Exl3Codebook>, 3> kCodebooks { {
        { "3inst", kernels::Exl3Codebook::ThreeInst },
        { "mcg", kernels::Exl3Codebook::Mcg },
        { "mul1", kernels::Exl3Codebook::Mul1 },
    } };
    const auto *codebook = std::ranges::find(
        kCodebooks, value, &std::pair<std::string_view, kernels::Exl3Codebook>::first);
    if (codebook == kCodebooks.end())
        return false;
    options.codebook = codebook->second;
    return true;
}

template <auto Member> bool setPath(CliOptions &options, std::string_view value)
{
    options.*Member = value;
    return !value.empty();
}

constexpr Option kOptions[] = {
    { "--model", "DIR", kTalk | kInspect | kEval | kBench | kLoad,
      "model folder (else FIRESTEEL_MODEL, else the embedded model)",
      [](CliOptions &o, std::string_view v) {
          o.model = v;
          return !v.empty();
      } },
    { "--threads", "N", kTalk | kSynth | kQuantize | kEval | kBench,
      "CPU threads (default: one per core)", setNumber<&CliOptions::threads> },
    { "--processor", "WHICH", kTalk | kBench | kLoad,
      "auto (default: the GPU if there is one that can), cpu or gpu", setProcessor },
    { "--context", "N", kTalk | kInspect | kQuantize | kEval | kBench | kSynthetic,
      "context length in tokens (default: what the model allows and memory holds; q, e: 2048)",
      setNumber<&CliOptions::contextTokens> },
    { "--prompt", "TEXT|-", kGenerate, "what to say to the model; - reads standard input",
      [](CliOptions &o, std::string_view v) {
          o.prompt = v;
          return true;
      } },
    { "--system", "TEXT", kTalk, "system message",
      [](CliOptions &o, std::string_view v) {
          o.system = v;
          return true;
      } },
    { "--tools", "FILE", kTalk, "JSON array of functions the model may call",
      [](CliOptions &o, std::string_view v) {
          o.toolsFile = v;
          return !v.empty();
      } },
    { "--schema", "FILE", kGenerate, "answer in JSON of this JSON Schema",
      setPath<&CliOptions::schemaFile> },
    { "--effort", "LEVEL", kTalk, "reasoning effort: low, high or max (default)", setEffort },
    { "--no-thinking", "", kTalk, "answer without reasoning",
      [](CliOptions &o, std::string_view) {
          o.promptOptions.thinking = false;
          return true;
      } },
    { "--show-thinking", "", kTalk, "write the reasoning to standard error",
      [](CliOptions &o, std::string_view) {
          o.showsThinking = true;
          return true;
      } },
    { "--greedy", "", kTalk, "always take the likeliest token; the same as --temperature 0",
      [](CliOptions &o, std::string_view) {
          o.temperature = 0.0F;
          return true;
      } },
    { "--temperature", "X", kTalk, "0 or more (default: the model's)",
      setNumber<&CliOptions::temperature> },
    { "--top-p", "X", kTalk, "sample from the likeliest tokens that together have this probability",
      setNumber<&CliOptions::topP> },
    { "--top-k", "N", kTalk, "sample from the N likeliest tokens; 0: off",
      setNumber<&CliOptions::topK> },
    { "--min-p", "X", kTalk, "drop tokens less likely than this part of the likeliest",
      setNumber<&CliOptions::minP> },
    { "--repetition-penalty", "X", kTalk, "above 1: avoid tokens already seen",
      setNumber<&CliOptions::repetitionPenalty> },
    { "--seed", "N", kTalk | kSynth | kBench,
      "the same seed gives the same answer (default: random) or weights (default: 1)",
      setNumber<&CliOptions::seed> },
    { "--max-tokens", "N", kTalk | kBench, "longest answer, reasoning included",
      setNumber<&CliOptions::maxTokens> },
    { "--stop", "TEXT", kTalk, "end the answer before this text; may be repeated",
      [](CliOptions &o, std::string_view v) {
          o.stop.emplace_back(v);
          return !v.empty();
      } },
    { "--k", "N|auto", kTalk, "tokens drafted per step, 0 to 8 (default: auto, as many as pay)",
      setDraftTokens },
    { "--drafter", "KIND", kTalk, "who drafts: auto (default), dflash2, lookup or none",
      setDrafter },
    { "--drafter-model", "DIR", kTalk | kBench,
      "DFlash2 drafter of the model (default: the folder \"drafter\" beside it)",
      setPath<&CliOptions::drafterModel> },
    { "--synthetic", "NAME", kSynthetic, "the shape: glm-5.3-flash or glimmer",
      [](CliOptions &o, std::string_view v) {
          o.shapeName = v;
          return !v.empty();
      } },
    { "--sms", "N", kSynthetic, "use so many of the GPU's multiprocessors (default: all)",
      setNumber<&CliOptions::multiprocessors> },
    { "--rows", "N,N", kSynthetic, "rows of a decode step, each 1 to 9 (default: all)", setRows },
    { "--overlap", "X", kSynthetic,
      "new experts of a further row, of what independent rows bring (default: 0.6)", setOverlap },
    { "--raw", "", kGenerate, "continue the prompt as it is, without the chat template",
      [](CliOptions &o, std::string_view) {
          o.promptOptions.applyTemplate = false;
          return true;
      } },
    { "--json", "", kGenerate | kInspect | kEval | kBench, "one JSON object instead of text",
      [](CliOptions &o, std::string_view) {
          o.printsJson = true;
          return true;
      } },
    { "--all-tensors", "", kInspect,
      "every tensor by its name instead of ranges of layers and experts",
      [](CliOptions &o, std::string_view) {
          o.listsEveryTensor = true;
          return true;
      } },
    { "--shape", "NAME", kSynth, "glm-5.3-flash or glimmer",
      [](CliOptions &o, std::string_view v) {
          o.shapeName = v;
          return !v.empty();
      } },
    { "--out", "DIR", kSynth | kQuantize,
      "the folder to write, absent or empty; q: or what a stopped run left, to go on with",
      setPath<&CliOptions::out> },
    { "--layers", "N", kSynth | kSynthetic,
      "the first N layers only (4 or more), without the MTP layer",
      setNumber<&CliOptions::layers> },
    { "--headers-only", "", kSynth, "sparse files of full length without data",
      [](CliOptions &o, std::string_view) {
          o.headersOnly = true;
          return true;
      } },
    { "--in", "DIR", kQuantize, "model folder to read: F32, F16 or BF16",
      setPath<&CliOptions::source> },
    { "--rates", "FILE", kQuantize,
      "lines of a pattern of module names and 1 to 8 bits a weight, or plain",
      setPath<&CliOptions::rates> },
    { "--calibration", "FILE", kQuantize, "text as the model sees it, control tokens written out",
      setPath<&CliOptions::calibration> },
    { "--hessians", "FILE", kQuantize,
      "what calibration found out: read if the file is there, else written",
      setPath<&CliOptions::hessians> },
    { "--codebook", "NAME", kQuantize, "3inst, mcg or mul1 (default)", setCodebook },
    { "--cpu", "", kQuantize, "search on the CPU even where there is a GPU",
      [](CliOptions &o, std::string_view) {
          o.usesCpuOnly = true;
          return true;
      } },
    { "--teacher", "DIR", kEval, "model folder whose predictions count as right",
      setPath<&CliOptions::teacher> },
    { "--text", "FILE", kEval, "text to predict, control tokens written out",
      setPath<&CliOptions::text> },
    { "--verbose", "", kTalk, "log to standard error",
      [](CliOptions &o, std::string_view) {
          o.isVerbose = true;
          return true;
      } },
};

struct CommandName
{
    std::string_view name;
    Command command;
    unsigned mask;
    std::string_view help;
};

constexpr CommandName kCommands[] = {
    { "generate", Command::Generate, kGenerate, "one prompt, one answer on standard output" },
    { "chat", Command::Chat, kChat,
      "a conversation; /new starts over, /quit ends, Ctrl+C stops an answer" },
    { "inspect", Command::Inspect, kInspect, "what a model folder holds and the memory it needs" },
    { "synth", Command::Synth, kSynth,
      "a checkpoint like the published EXL3 pack, with random weights" },
    { "quantize", Command::Quantize, kQuantize, "a model folder to an EXL3 one" },
    { "eval", Command::Eval, kEval, "how close a model's predictions are to a teacher's" },
    { "bench speculate", Command::BenchSpeculate, kBench,
      "speed and acceptance of every drafter and K, by kind of text" },
    { "bench decode", Command::BenchDecode, kSynthetic,
      "decode steps of a shape on the GPU, with random weights" },
    { "bench prefill", Command::BenchPrefill, kSynthetic,
      "a prompt of a shape on the GPU, with random weights" },
    { "bench load", Command::BenchLoad, kLoad,
      "how fast a model's files come to the GPU, beside the disk's own rate" },
    { "--help", Command::Help, 0, "this text" },
    { "--version", Command::Version, 0, "the version" },
};

std::unexpected<Error> usage(std::string message)
{
    return fail(ErrorCode::BadRequest, std::move(message));
}

} // namespace

Result<CliOptions> parseCliOptions(std::span<const std::string_view> arguments)
{
    CliOptions options;
    if (std::ranges::any_of(arguments, [](std::string_view argument) {
            return argument == "--help" || argument == "-h";
        }))
        return options;
    if (arguments.empty())
        return usage("a command is missing; try --help");
    std::string name(arguments.front());
    std::size_t first = 1;
    if (name == "bench" && arguments.size() > 1) {
        name += std::format(" {}", arguments[1]);
        first = 2;
    }
    const auto *command = std::ranges::find(kCommands, name, &CommandName::name);
    if (command == std::end(kCommands))
        return usage(std::format("unknown command '{}'; try --help", name));
    options.command = command->command;

    for (std::size_t i = first; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        const std::size_t equals = argument.find('=');
        const std::string_view word = argument.substr(0, equals);
        const auto *option = std::ranges::find(kOptions, word, &Option::name);
        if (option == std::end(kOptions) || (option->commands & command->mask) == 0)
            return usage(
                std::format("'{}' is no option of {}; try --help", argument, command->name));
        std::string_view value;
        if (option->value.empty()) {
            if (equals != std::string_view::npos)
                return usage(std::format("{} takes no value", word));
        } else if (equals != std::string_view::npos) {
            value = argument.substr(equals + 1);
        } else if (++i < arguments.size()) {
            value = arguments[i];
        } else {
            return usage(std::format("{} needs a value ({})", word, option->value));
        }
        if (!option->apply(options, value))
            return usage(std::format("{}: '{}' is not a valid {}", word, value, option->value));
    }
    if (options.command == Command::Generate && !options.prompt)
        return usage("generate needs --prompt TEXT, or --prompt - for standard input");
    if (options.command == Command::Quantize
        && (options.source.empty() || options.out.empty() || options.rates.empty()))
        return usage("quantize needs --in DIR, --out DIR and --rates FILE");
    if (options.command == Command::Eval && (options.teacher.empty() || options.text.empty()))
        return usage("eval needs --teacher DIR, --model DIR and --text FILE");
    if (!options.promptOptions.applyTemplate
        && (!options.system.empty() || !options.toolsFile.empty()))
        return usage("--raw leaves the template out, so --system and --tools have no place");
    if (options.command == Command::Synth && (options.shapeName.empty() || options.out.empty()))
        return usage("synth needs --shape NAME and --out DIR");
    if ((options.command == Command::BenchDecode || options.command == Command::BenchPrefill)
        && options.shapeName.empty())
        return usage("bench decode and bench prefill need --synthetic NAME");
    return options;
}

std::string cliHelp()
{
    std::string text = "Usage: firesteel-cli COMMAND [OPTIONS]\n\nCommands:\n";
    for (const CommandName &command : kCommands)
        text += std::format("  {:<24}{}\n", command.name, command.help);
    text += "\nOptions (g: generate, c: chat, i: inspect, s: synth, q: quantize, e: eval, b: "
            "bench speculate, d: bench decode and prefill, l: bench load):\n";
    for (const Option &option : kOptions) {
        const std::string where = std::string((option.commands & kGenerate) != 0 ? "g" : " ")
            + ((option.commands & kChat) != 0 ? "c" : " ")
            + ((option.commands & kInspect) != 0 ? "i" : " ")
            + ((option.commands & kSynth) != 0 ? "s" : " ")
            + ((option.commands & kQuantize) != 0 ? "q" : " ")
            + ((option.commands & kEval) != 0 ? "e" : " ")
            + ((option.commands & kBench) != 0 ? "b" : " ")
            + ((option.commands & kSynthetic) != 0 ? "d" : " ")
            + ((option.commands & kLoad) != 0 ? "l" : " ");
        text += std::format("  {:<24}{}  {}\n", std::format("{} {}", option.name, option.value),
                            where, option.help);
    }
    text += "\nExit status: 0 success, 1 failure, 2 wrong usage.\n";
    return text;
}

SamplingParams samplingOf(const CliOptions &options, SamplingParams defaults)
{
    defaults.temperature = options.temperature.value_or(defaults.temperature);
    defaults.topP = options.topP.value_or(defaults.topP);
    defaults.topK = options.topK.value_or(defaults.topK);
    defaults.minP = options.minP.value_or(defaults.minP);
    defaults.repetitionPenalty = options.repetitionPenalty.value_or(defaults.repetitionPenalty);
    defaults.seed = options.seed;
    return defaults;
}

} // namespace firesteel::engine
