// SPDX-License-Identifier: MIT
//
// Whole folders: what comes out is a model with the same tensors, a run that stopped anywhere goes
// on to the same bytes, and inputs that do not belong together are told apart.
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/quantize/calibration.h"
#include "engine/quantize/checkpoint_quantizer.h"
#include "engine/quantize/tensor_values.h"
#include "tests/support/loaded_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace firesteel;
using engine::ErrorCode;
using engine::QuantizeOptions;
using engine::QuantizeProgress;
using engine::TensorType;
namespace fs = std::filesystem;

namespace {

// Two layers whose matrices are 128 wide where it matters.
engine::ModelShape smallShape()
{
    engine::ModelShape shape = test::tinyShape();
    shape.hiddenSize = 128;
    shape.layerCount = 2;
    shape.attention = { engine::AttentionKind::Kda, engine::AttentionKind::Mla };
    shape.mlp = { engine::MlpKind::Dense, engine::MlpKind::Sparse };
    shape.indexer.full = { true, true };
    shape.kda.headDim = 64;
    shape.mla
        = { .heads = 2, .qLoraRank = 128, .kvLoraRank = 128, .qkHeadDim = 64, .vHeadDim = 64 };
    shape.moe.experts = 3;
    shape.moe.expertWidth = 128;
    shape.moe.denseWidth = 128;
    return shape;
}

constexpr const char *kText = "[gMASK]<sop><|user|>Hello, how are you?<|assistant|>I am well."
                              "[gMASK]<sop><|user|>abcdefghij 0123456789<|assistant|>xyz";
constexpr const char *kRates = "*.mlp.experts.*.down_proj 3\n"
                               "*.layers.0.self_attn.o_proj 4\n"
                               "*.layers.0.self_attn.q_proj 4\n"
                               "*.layers.0.mlp.down_proj 2\n";

// A source, its rates and its text in a folder of their own.
class Sources
{
public:
    explicit Sources(const char *rates = kRates)
    {
        fs::create_directory(m_folder.path() / "model");
        test::writeTinyCheckpoint(m_folder.path() / "model", { .shape = smallShape() });
        test::writeFile(m_folder.path() / "rates", rates);
        test::writeFile(m_folder.path() / "text", kText);
    }
    QuantizeOptions options(const std::string &target = "out") const
    {
        return { .source = m_folder.path() / "model",
                 .target = m_folder.path() / target,
                 .rates = m_folder.path() / "rates",
                 .calibration = m_folder.path() / "text" };
    }
    fs::path path(const std::string &name) const { return m_folder.path() / name; }

private:
    test::TemporaryFolder m_folder;
};

using Progress = std::function<void(const QuantizeProgress &)>;

engine::Result<engine::QuantizeReport> run(const QuantizeOptions &options,
                                           const Progress &progress = {},
                                           const engine::CancelToken &cancel = {})
{
    kernels::Stream stream(2);
    return engine::quantizeCheckpoint(options, stream, progress, cancel);
}

// Stops after the first matrix is in the journal.
void runOneMatrix(const QuantizeOptions &options)
{
    engine::CancelToken cancel;
    const auto stopped = run(
        options,
        [&](const QuantizeProgress &progress) {
            if (progress.stage == QuantizeProgress::Stage::Quantizing)
                cancel.cancel();
        },
        cancel);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().code == ErrorCode::Cancelled);
}

std::map<std::string, std::string> filesOf(const fs::path &folder)
{
    std::map<std::string, std::string> files;
    for (const auto &item : fs::directory_iterator(folder))
        files[item.path().filename().string()] = test::readFile(item.path());
    return files;
}

void checkRefused(const QuantizeOptions &options, const std::string &named,
                  ErrorCode code = ErrorCode::BadRequest)
{
    CAPTURE(named);
    const auto result = run(options);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == code);
    CAPTURE(result.error().message);
    CHECK(result.error().message.find(named) != std::string::npos);
    CHECK(result.error().message.find('\n') == std::string::npos);
}

} // namespace

TEST_CASE("a quantized folder is a model with the same tensors in fewer bytes")
{
    const Sources sources;
    const auto report = run(sources.options());
    REQUIRE(report);
    CHECK(report->quantized == 6);
    CHECK(report->resumed == 0);
    CHECK(report->quantizedWeights == 6 * 128 * 128);
    CHECK(report->bitsPerWeight == (3 * 3 + 4 + 4 + 2) / 6.0);
    CHECK(report->targetBytes < report->sourceBytes);

    const auto files = filesOf(sources.path("out"));
    CHECK(files.contains("tokenizer.json"));
    CHECK(files.contains("generation_config.json"));
    CHECK(files.contains("model.safetensors"));
    CHECK(files.size() == 4); // and config.json: nothing of the run is left
    const auto config = nlohmann::json::parse(files.at("config.json"));
    CHECK(config.at("quantization_config").at("quant_method") == "exl3");
    CHECK(config.at("quantization_config").at("codebook") == "mul1");

    const auto source = engine::TensorFolder::open(sources.path("model"));
    const auto target = engine::TensorFolder::open(sources.path("out"));
    const auto checkpoint = engine::Checkpoint::open(sources.path("out"));
    REQUIRE(source);
    REQUIRE(target);
    REQUIRE(checkpoint);
    CHECK(engine::validateTensors(*checkpoint));
    std::size_t quantized = 0;
    kernels::ThreadPool pool(1);
    for (const auto &[name, tensor] : source->tensors()) {
        const engine::TensorEntry *entry = tensor.entry;
        CAPTURE(name);
        if (const auto same = target->tensors().find(name); same != target->tensors().end()) {
            CHECK(same->second.entry->type == entry->type);
            CHECK(same->second.entry->shape == entry->shape);
            CHECK(std::ranges::equal(same->second.entry->bytes, entry->bytes));
            continue;
        }
        ++quantized;
        const std::string module = name.substr(0, name.size() - std::string(".weight").size());
        const auto matrix = checkpoint->exl3(module, entry->shape[0], entry->shape[1]);
        REQUIRE(matrix);
        CHECK(reinterpret_cast<std::uintptr_t>(matrix->trellis) % 64 == 0);
        const std::vector<float> expected = engine::widenedValues(*entry);
        std::vector<float> actual(expected.size());
        kernels::dequantizeExl3(actual, *matrix, pool);
        double error = 0;
        double size = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            error += std::pow(static_cast<double>(actual[i] - expected[i]), 2);
            size += std::pow(static_cast<double>(expected[i]), 2);
        }
        // Feedback gives up error of the weights for error of the outputs, a few times at most.
        CHECK(error <= 4 * std::exp2(-2 * matrix->rate) * size);
    }
    CHECK(quantized == 6);
    test::LoadedModel model(sources.path("out"), 1);
    engine::SequenceState sequence = model.model->newSequence(64);
    const std::vector<std::int32_t> tokens { 1, 2, 3 };
    const std::vector<float> logits = model.prefill(sequence, tokens);
    CHECK(std::ranges::all_of(logits, [](float value) { return std::isfinite(value); }));
}

TEST_CASE("a run that stopped goes on to the same bytes, wherever it stopped")
{
    const Sources sources;
    const auto optionsFor = [&](const std::string &target) {
        QuantizeOptions options = sources.options(target);
        options.hessians = sources.path("hessians.safetensors"); // calibrated once
        return options;
    };
    REQUIRE(run(optionsFor("whole")));
    const auto whole = filesOf(sources.path("whole"));

    const QuantizeOptions options = optionsFor("resumed");
    runOneMatrix(options);
    CHECK(fs::exists(sources.path("resumed") / "quantize.journal"));
    const auto report = run(options);
    REQUIRE(report);
    CHECK(report->resumed >= 1);
    CHECK(report->resumed < report->quantized);
    CHECK(filesOf(sources.path("resumed")) == whole);

    // Killed while a record was being written: any part of it may be there.
    for (const std::uintmax_t lost : { 1U, 4000U }) {
        CAPTURE(lost);
        const std::string target = "torn" + std::to_string(lost);
        runOneMatrix(optionsFor(target));
        const fs::path journal = sources.path(target) / "quantize.journal";
        fs::resize_file(journal, fs::file_size(journal) - lost);
        const auto torn = run(optionsFor(target));
        REQUIRE(torn);
        CHECK(filesOf(sources.path(target)) == whole);
    }
    // A byte of a record that is not what was written.
    runOneMatrix(optionsFor("flipped"));
    const fs::path journal = sources.path("flipped") / "quantize.journal";
    std::string bytes = test::readFile(journal);
    bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 1);
    test::writeFile(journal, bytes);
    REQUIRE(run(optionsFor("flipped")));
    CHECK(filesOf(sources.path("flipped")) == whole);
}

TEST_CASE("a run does not go on with other inputs")
{
    const Sources sources;
    runOneMatrix(sources.options());
    QuantizeOptions options = sources.options();
    options.codebook = kernels::Exl3Codebook::Mcg;
    checkRefused(options, "the codebook");

    test::writeFile(sources.path("text"), std::string(kText) + "!");
    checkRefused(sources.options(), "--calibration");
    test::writeFile(sources.path("text"), kText);

    test::writeFile(sources.path("rates"), std::string(kRates) + "*.layers.1.self_attn.o_proj 5\n");
    checkRefused(sources.options(), "--rates");
    // A comment changes no rate.
    test::writeFile(sources.path("rates"), std::string(kRates) + "# done\n");
    CHECK(run(sources.options()));
}

TEST_CASE("what cannot be done is refused in one line")
{
    const Sources sources;
    QuantizeOptions options = sources.options();
    options.target = options.source;
    checkRefused(options, "the same folder");
    options = sources.options();
    options.source = sources.path("nowhere");
    checkRefused(options, "nowhere", ErrorCode::NotFound);
    options = sources.options();
    options.calibration = sources.path("nowhere");
    checkRefused(options, "nowhere", ErrorCode::NotFound);

    fs::create_directory(sources.path("full"));
    test::writeFile(sources.path("full") / "notes.txt", "mine");
    checkRefused(sources.options("full"), "is not empty");
    CHECK(filesOf(sources.path("full")).size() == 1);

    test::writeFile(sources.path("rates"), "nothing.* 4\n");
    checkRefused(sources.options("none"), "no matrix");
    test::writeFile(sources.path("rates"), "*.down_proj 9\n");
    checkRefused(sources.options("none"), "line 1");
    test::writeFile(sources.path("rates"), kRates);
    test::writeFile(sources.path("text"), "a");
    checkRefused(sources.options("short"), "too short");
    test::writeFile(sources.path("text"), kText);

    REQUIRE(run(sources.options("first")));
    options = sources.options("second");
    options.source = sources.path("first");
    checkRefused(options, "EXL3 already");
}

TEST_CASE("notes: odd sizes, idle lines, inputs nobody saw")
{
    const Sources sources("*.layers.0.self_attn.f_a_proj 4\n"
                          "*.layers.0.self_attn.o_proj 4\n"
                          "typo.* 3\n");
    const auto report = run(sources.options());
    REQUIRE(report);
    CHECK(report->quantized == 1);
    REQUIRE(report->notes.size() == 2);
    CHECK(report->notes[0].find("f_a_proj") != std::string::npos);
    CHECK(report->notes[0].find("multiples of 128") != std::string::npos);
    CHECK(report->notes[1].find("typo.*") != std::string::npos);
}

TEST_CASE("another architecture: every matrix, without a forward pass")
{
    const test::TemporaryFolder folder;
    const std::string matrix(2 * 128 * 256, '\x3C');
    test::writeSafeTensors(
        folder.path() / "model.safetensors",
        { { "fc.weight", TensorType::BF16, { 256, 128 }, matrix },
          { "book", TensorType::F16, { 128, 256 }, matrix },
          { "norm.weight", TensorType::BF16, { 128 }, std::string(256, '\x3F') } });
    test::writeFile(folder.path() / "config.json",
                    R"({"model_type": "qwen3", "hidden_size": 128})");
    const test::TemporaryFolder target;
    test::writeFile(folder.path() / "rates.list", "* 2\n");
    kernels::Stream stream(2);
    const auto report = engine::quantizeCheckpoint({ .source = folder.path(),
                                                     .target = target.path() / "out",
                                                     .rates = folder.path() / "rates.list" },
                                                   stream, {}, {});
    REQUIRE(report);
    CHECK(report->quantized == 2);
    REQUIRE(report->notes.size() == 1);
    CHECK(report->notes[0].find("no forward pass") != std::string::npos);
    const auto written = engine::TensorFolder::open(target.path() / "out");
    REQUIRE(written);
    std::vector<std::string> names;
    for (const auto &[name, tensor] : written->tensors())
        names.push_back(name);
    CHECK(names
          == std::vector<std::string> { "book.mul1", "book.suh", "book.svh", "book.trellis",
                                        "fc.mul1", "fc.suh", "fc.svh", "fc.trellis",
                                        "norm.weight" });
    const auto config
        = nlohmann::json::parse(test::readFile(target.path() / "out" / "config.json"));
    CHECK(config.at("hidden_size") == 128);
    CHECK(config.at("quantization_config").at("bits") == 2);
}

TEST_CASE("calibration sees every linear layer, layers with one input share its Hessian")
{
    const test::TemporaryFolder folder;
    test::writeTinyCheckpoint(folder.path(), { .shape = smallShape() });
    test::LoadedModel loaded(folder.path(), 2);
    const std::vector<std::vector<std::int32_t>> windows { std::vector<std::int32_t>(100, 5),
                                                           { 1, 2, 3, 4, 5, 6, 7 } };
    const auto hessians = engine::calibrate(*loaded.model, windows, loaded.stream.pool(), {}, {});
    REQUIRE(hessians);
    const std::string layer0 = "model.language_model.layers.0.";
    const std::string layer1 = "model.language_model.layers.1.";
    const auto at = [&](const std::string &module) {
        CAPTURE(module);
        REQUIRE(hessians->contains(module));
        return hessians->at(module);
    };
    // Every linear layer but the embedding, which looks up.
    for (const auto &tensor : engine::expectedTensors(loaded.checkpoint))
        if (tensor.isLinear && tensor.component != engine::Component::Embedding) {
            const std::string module(tensor.module());
            if (!module.contains(".experts."))
                CHECK(at(module)->rows() == 107);
            if (hessians->contains(module))
                CHECK(at(module)->size() == tensor.shape[1]);
        }
    CHECK(at(layer0 + "self_attn.q_proj") == at(layer0 + "self_attn.v_proj"));
    CHECK(at(layer0 + "self_attn.q_proj") == at(layer0 + "self_attn.b_proj"));
    CHECK(at(layer0 + "self_attn.q_proj") != at(layer0 + "self_attn.o_proj"));
    CHECK(at(layer1 + "self_attn.q_b_proj") == at(layer1 + "self_attn.indexer.wq_b"));
    CHECK(at(layer1 + "mlp.experts.0.gate_proj") == at(layer1 + "mlp.experts.2.up_proj"));
    CHECK(at(layer1 + "mlp.experts.0.gate_proj") == at(layer1 + "mlp.gate"));
    CHECK(at(layer1 + "mlp.experts.0.gate_proj") == at(layer1 + "mlp.shared_experts.gate_proj"));
    // Each token's two experts, each with rows of its own.
    std::int64_t rows = 0;
    for (int e = 0; e < 3; ++e)
        if (const auto down
            = hessians->find(layer1 + "mlp.experts." + std::to_string(e) + ".down_proj");
            down != hessians->end())
            rows += down->second->rows();
    CHECK(rows == 2 * 107);

    const fs::path file = folder.path() / "kept.safetensors";
    REQUIRE(engine::saveHessians(file, *hessians, { 1, 2 }));
    const auto back = engine::loadHessians(file, { 1, 2 });
    REQUIRE(back);
    REQUIRE(back->size() == hessians->size());
    for (const auto &[module, hessian] : *hessians) {
        CAPTURE(module);
        CHECK(back->at(module)->rows() == hessian->rows());
        CHECK(std::ranges::equal(back->at(module)->sums(), hessian->sums()));
    }
    CHECK(back->at(layer0 + "self_attn.q_proj") == back->at(layer0 + "self_attn.k_proj"));
    CHECK(engine::loadHessians(file, { 1, 3 }).error().message.find("calibration")
          != std::string::npos);
    CHECK(engine::loadHessians(file, { 0, 2 }).error().code == ErrorCode::BadRequest);
    CHECK(engine::loadHessians(folder.path() / "model-00001-of-00002.safetensors", { 1, 2 })
              .error()
              .code
          == ErrorCode::BadCheckpoint);
}

TEST_CASE("calibrated Hessians can be kept for other rates")
{
    const Sources sources;
    QuantizeOptions options = sources.options("first");
    options.hessians = sources.path("hessians.safetensors");
    REQUIRE(run(options));
    CHECK(fs::exists(options.hessians));
    bool isCalibrating = false;
    options.target = sources.path("second");
    REQUIRE(run(options, [&](const QuantizeProgress &progress) {
        isCalibrating |= progress.stage == QuantizeProgress::Stage::Calibrating;
    }));
    CHECK_FALSE(isCalibrating);
    CHECK(filesOf(sources.path("first")) == filesOf(sources.path("second")));
    test::writeFile(sources.path("text"), std::string(kText) + "!");
    options.target = sources.path("third");
    checkRefused(options, "another calibration text");
}
