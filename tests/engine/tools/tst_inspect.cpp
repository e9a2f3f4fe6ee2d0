// SPDX-License-Identifier: MIT
#include "engine/checkpoint/exl3_pack.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/tools/inspect.h"
#include "engine/tools/model_report.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>

using namespace firesteel::engine;
using namespace firesteel::test;
using nlohmann::json;

namespace {

ModelShape releasedShape()
{
    json config = json::parse(readFile(dataPath("model_config") / "released.json"));
    config.erase("quantization_config");
    const auto report = parseModelConfig(config.dump(), "config.json");
    REQUIRE(report);
    return report->shape;
}

} // namespace

TEST_CASE("the released model's table has the published numbers of tensors and parameters")
{
    const auto table = expectedTensors(releasedShape());
    CHECK(table.size() == 38'770); // BF16 release
    std::size_t experts = 0;
    std::map<Component, std::uint64_t> parameters;
    std::map<Component, std::size_t> counts;
    for (const ExpectedTensor &tensor : table) {
        experts += tensor.name.contains(".experts.") ? 1 : 0;
        parameters[tensor.component] += static_cast<std::uint64_t>(std::accumulate(
            tensor.shape.begin(), tensor.shape.end(), std::int64_t { 1 }, std::multiplies<>()));
        ++counts[tensor.component];
    }
    CHECK(table.size() - experts == 1'618);
    CHECK(counts[Component::Vision] == 347);
    // Per layer, from the weight arithmetic of the released checkpoint.
    CHECK(parameters[Component::Kda] == 34ULL * (134'217'728 + 3'514'560));
    CHECK(parameters[Component::Mla] == 11ULL * (100'663'296 + 16'779'264));
    CHECK(parameters[Component::Indexer] == 11ULL * 7'471'872);
    CHECK(parameters[Component::DenseMlp] == 3ULL * 150'994'944);
    CHECK(parameters[Component::SharedExperts] == 42ULL * 25'165'824);
    CHECK(parameters[Component::RoutedExperts] == 42ULL * 288 * 25'165'824);
    CHECK(parameters[Component::Router] == 42ULL * 1'179'936);
    CHECK(parameters[Component::HyperConnections] == 45ULL * 786'486);
    CHECK(parameters[Component::Head] == 634'388'480);
    CHECK(parameters[Component::Embedding] == 634'388'480);
    CHECK(parameters[Component::Vision] == 563'627'008);
    CHECK(parameters[Component::Mtp] == 7'432'592'416);
}

TEST_CASE("the EXL3 pack's table has the published numbers of tensors and bytes")
{
    const auto table = exl3PackTensors(releasedShape());
    CHECK(table.size() == 151'554);
    std::uint64_t total = 0;
    std::map<Component, std::uint64_t> bytes;
    std::set<std::string> names;
    for (const PackTensor &tensor : table) {
        total += tensor.bytes();
        bytes[tensor.component] += tensor.bytes();
        names.insert(tensor.name);
    }
    CHECK(names.size() == table.size());
    CHECK(total == 85'128'732'888); // 79.2823 GiB
    // Per component, from the weight arithmetic of the published pack.
    CHECK(bytes[Component::Kda] == 2'284'486'928 + 239'551'488);
    CHECK(bytes[Component::Mla] == 554'718'384 + 369'143'808);
    CHECK(bytes[Component::Indexer] == 60'696'108);
    CHECK(bytes[Component::DenseMlp] == 170'164'260);
    CHECK(bytes[Component::SharedExperts] == 530'031'096);
    CHECK(bytes[Component::Router] == 99'138'816);
    CHECK(bytes[Component::RoutedExperts] == 76'547'503'872);
    CHECK(bytes[Component::HyperConnections] == 141'567'480);
    CHECK(bytes[Component::Norms] == 745'472);
    CHECK(bytes[Component::Head] == 396'810'756);
    CHECK(bytes[Component::Embedding] == 1'268'776'960);
    CHECK(bytes[Component::Vision] == 529'898'160);
    CHECK(bytes[Component::Mtp] == 1'935'499'300);
}

TEST_CASE("the released model's context memory is the published one")
{
    const SequenceMemory memory = compactSequenceMemory(releasedShape(), 262'144);
    CHECK(memory.latents == 2'952'790'016);
    CHECK(memory.pooledKeys == 184'549'376);
    CHECK(memory.kdaState == 142'606'336);
    CHECK(memory.kdaWindow == 5'013'504);
    CHECK(memory.indexTails == 16'896);
    const SequenceMemory million = compactSequenceMemory(releasedShape(), 1'048'576);
    CHECK(million.latents == 11'811'160'064);
    CHECK(million.pooledKeys == 738'197'504);
}

TEST_CASE("inspect says what a tiny model holds")
{
    const TemporaryFolder folder;
    writeTinyCheckpoint(folder.path());
    const auto inspection = inspectModel({ .model = folder.path(), .contexts = { 100, 8192 } });
    REQUIRE(inspection);
    CHECK(inspection->isUsable);
    const std::string &text = inspection->text;
    CAPTURE(text);
    CHECK(text.contains("5 layers (3 KDA, 2 MLA; 1 dense, 4 sparse)"));
    CHECK(text.contains("model.language_model.layers.{0-1,3}.self_attn.q_conv1d.weight"));
    CHECK(text.contains("model.language_model.layers.{1-4}.mlp.experts.{0-7}.gate_proj.weight"));
    CHECK(text.contains("8,192 tokens"));
    CHECK(text.contains("more than the model's 4,096 tokens"));
    CHECK_FALSE(text.contains("error: "));

    const auto all = inspectModel({ .model = folder.path(), .listsEveryTensor = true });
    REQUIRE(all);
    CHECK(all->text.contains("\nmodel.language_model.layers.3.mlp.experts.5.gate_proj.weight "));
    CHECK(all->text.contains("4,096 tokens")); // the model's maximum is the default
}

TEST_CASE("inspect lists what is missing, wrong and unknown")
{
    const TemporaryFolder folder;
    auto tensors = tinyTensors();
    std::erase_if(tensors, [](const TinyTensor &tensor) {
        return tensor.name == "model.language_model.norm.weight";
    });
    for (TinyTensor &tensor : tensors) {
        if (tensor.name == "lm_head.weight")
            std::swap(tensor.shape[0], tensor.shape[1]);
    }
    tensors.push_back({ "model.extra\n.weight", TensorType::I8, { 2 }, "ab" });
    json config = json::parse(tinyConfigJson(tinyShape()));
    config["text_config"]["new_field"] = 1;
    writeFile(folder / "config.json", config.dump());
    writeSafeTensors(folder / "model.safetensors", tensors);

    const auto inspection = inspectModel({ .model = folder.path() });
    REQUIRE(inspection);
    CHECK_FALSE(inspection->isUsable);
    CAPTURE(inspection->text);
    CHECK(inspection->text.contains("unknown config fields (1):\n  text_config.new_field\n"));
    CHECK(inspection->text.contains(
        "tensors that glm5_next does not have (1):\n  model.extra\\x0A.weight\n"));
    CHECK(inspection->text.contains("tensor \"model.language_model.norm.weight\" is missing\n"));
    CHECK(inspection->text.contains(
        "tensor \"lm_head.weight\" has shape [64, 320], expected [320, 64]\n"));

    const auto machine = inspectModel({ .model = folder.path(), .printsJson = true });
    REQUIRE(machine);
    const json report = json::parse(machine->text);
    CHECK(report["problems"].size() == 2);
    CHECK(report["unexpected_tensors"] == json { "model.extra\n.weight" });
    CHECK(report["unknown_config_fields"] == json { "text_config.new_field" });
    CHECK(report["components"]["unknown"]["bytes"] == 2);
    std::uint64_t bytes = 0;
    for (const json &tensor : report["tensors"])
        bytes += tensor["bytes"].get<std::uint64_t>();
    CHECK(report["total"]["bytes"] == bytes);
    CHECK(report["total"]["tensors"] == tensors.size());
}

TEST_CASE("inspect prints an EXL3 model's rates by component, and counts weights instead of words")
{
    const TemporaryFolder folder;
    const ModelShape shape = tinyExl3Shape();
    writeTinyCheckpoint(folder.path(), { .shape = shape, .exl3 = true });
    const auto inspection = inspectModel({ .model = folder.path(), .printsJson = true });
    REQUIRE(inspection);
    CHECK(inspection->isUsable);
    const json report = json::parse(inspection->text);
    std::uint64_t weights = 0;
    for (const ExpectedTensor &tensor : expectedTensors(shape))
        weights += static_cast<std::uint64_t>(std::accumulate(
            tensor.shape.begin(), tensor.shape.end(), std::int64_t { 1 }, std::multiplies<>()));
    CHECK(report["total"]["parameters"] == weights);
    CHECK(report["components"]["unknown"]["tensors"] == 0);
    CHECK(report["pack_differences"].empty()); // no GLM-5.3-Flash
    // 4 layers of 8 experts with 3 matrices of 128 x 128 at 2 bits.
    const std::uint64_t group = 128 * 128 * 2 / 8 + 2 * 2 * 128 + 4;
    CHECK(std::ranges::contains(report["exl3_modules"],
                                json { { "component", "routed experts" },
                                       { "bits", 2 },
                                       { "modules", 96 },
                                       { "bytes", 96 * group } }));
    const auto text = inspectModel({ .model = folder.path() });
    REQUIRE(text);
    CHECK(text->text.contains("\nEXL3                  bits            modules"));
    CHECK(text->text.contains("routed experts           2                 96"));
}

TEST_CASE("inspect refuses contexts that mean nothing")
{
    for (const int tokens : { 0, -1, (1 << 30) + 1 }) {
        const auto inspection = inspectModel({ .model = "unused", .contexts = { tokens } });
        REQUIRE_FALSE(inspection);
        CHECK(inspection.error().code == ErrorCode::BadRequest);
    }
}

TEST_CASE("Glimmer's components add up to its parameters")
{
    const auto directory = modelDirectory();
    if (!directory)
        return reportSkip("FIRESTEEL_MODEL names no model folder");
    const auto inspection = inspectModel({ .model = *directory, .printsJson = true });
    REQUIRE(inspection);
    CHECK(inspection->isUsable);
    const json report = json::parse(inspection->text);
    // transformers does not count the 7 x 16 correction biases: they are buffers there.
    CHECK(report["total"]["parameters"] == 35'122'242 + 7 * 16);
    CHECK(report["components"]["vision"]["parameters"] == 2'964'992);
    CHECK(report["components"]["unknown"]["tensors"] == 0);
    CHECK(report["total"]["bytes"] == 70'250'440);
}
