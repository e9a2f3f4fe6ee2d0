// SPDX-License-Identifier: MIT
//
// EXL3 groups in a model folder: what is read, and everything that can be wrong with one.
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/exl3_group.h"
#include "engine/checkpoint/tensor_table.h"
#include "tests/support/exl3_vectors.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_values.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <functional>

using namespace firesteel;
using namespace firesteel::engine;
using namespace firesteel::test;
namespace fs = std::filesystem;

namespace {

using Tensors = std::vector<TinyTensor>;

constexpr const char *kModule
    = "model.language_model.layers.0.self_attn.o_proj"; // 128 x 128, 4 bits

void writeFolder(const fs::path &folder, const Tensors &tensors, const ModelShape &shape)
{
    writeFile(folder / "config.json", tinyConfigJson(shape, true));
    writeSafeTensors(folder / "model.safetensors", tensors);
}

TinyTensor &part(Tensors &tensors, const std::string &suffix)
{
    const auto found = std::ranges::find(tensors, kModule + suffix, &TinyTensor::name);
    REQUIRE(found != tensors.end());
    return *found;
}

void remove(Tensors &tensors, const std::string &suffix)
{
    REQUIRE(std::erase_if(tensors,
                          [&](const TinyTensor &tensor) { return tensor.name == kModule + suffix; })
            == 1);
}

void add(Tensors &tensors, const std::string &suffix, TensorType type,
         std::vector<std::int64_t> shape)
{
    std::size_t bytes = tensorTypeBytes(type);
    for (const std::int64_t size : shape)
        bytes *= static_cast<std::size_t>(size);
    tensors.push_back({ kModule + suffix, type, std::move(shape), std::string(bytes, '\0') });
}

void reshape(Tensors &tensors, const std::string &suffix, std::vector<std::int64_t> shape)
{
    remove(tensors, suffix);
    add(tensors, suffix, suffix == ".trellis" ? TensorType::I16 : TensorType::F16,
        std::move(shape));
}

struct Case
{
    const char *what;
    std::function<void(Tensors &)> breakIt;
    std::string suffix; // of the tensor that the message must name
    std::string_view problem;
    ErrorCode code = ErrorCode::BadCheckpoint;
};

const Case kCases[] = {
    { "rate 0", [](Tensors &t) { reshape(t, ".trellis", { 8, 8, 0 }); }, ".trellis",
      "has 0 words a tile, which is no EXL3 rate" },
    { "rate 9", [](Tensors &t) { reshape(t, ".trellis", { 8, 8, 144 }); }, ".trellis",
      "has 144 words a tile, which is no EXL3 rate" },
    { "no rate", [](Tensors &t) { reshape(t, ".trellis", { 8, 8, 65 }); }, ".trellis",
      "has 65 words a tile, which is no EXL3 rate" },
    { "half-integer rate", [](Tensors &t) { reshape(t, ".trellis", { 8, 8, 40 }); }, ".trellis",
      "stores 2.5 bits per weight; this build reads EXL3 rates of 1 to 8 whole bits",
      ErrorCode::UnsupportedModel },
    { "input no multiple of 128", [](Tensors &t) { reshape(t, ".trellis", { 4, 8, 64 }); },
      ".trellis", "has shape [4, 8, 64], so a size of 64; EXL3 sizes are multiples of 128" },
    { "output no multiple of 128", [](Tensors &t) { reshape(t, ".trellis", { 8, 9, 64 }); },
      ".trellis", "so a size of 144; EXL3 sizes are multiples of 128" },
    { "no size at all", [](Tensors &t) { reshape(t, ".trellis", { 0, 8, 64 }); }, ".trellis",
      "so a size of 0; EXL3 sizes are multiples of 128" },
    { "another size than the model",
      [](Tensors &t) {
          reshape(t, ".trellis", { 16, 8, 64 });
          reshape(t, ".suh", { 256 });
      },
      ".trellis", "holds 256 x 128 weights, expected 128 x 128 (in x out)" },
    { "trellis of two dimensions", [](Tensors &t) { reshape(t, ".trellis", { 64, 64 }); },
      ".trellis", "has shape [64, 64], expected [in / 16, out / 16, 16 * rate]" },
    { "trellis of another type", [](Tensors &t) { part(t, ".trellis").type = TensorType::F16; },
      ".trellis", "has dtype F16, expected I16" },
    { "trellis missing", [](Tensors &t) { remove(t, ".trellis"); }, ".trellis",
      "is missing, but others of its EXL3 group are there" },
    { "suh missing", [](Tensors &t) { remove(t, ".suh"); }, ".suh",
      "is missing, but others of its EXL3 group are there" },
    { "svh missing", [](Tensors &t) { remove(t, ".svh"); }, ".svh",
      "is missing, but others of its EXL3 group are there" },
    { "suh of another type", [](Tensors &t) { part(t, ".suh").type = TensorType::BF16; }, ".suh",
      "has dtype BF16, expected F16" },
    { "suh too short", [](Tensors &t) { reshape(t, ".suh", { 120 }); }, ".suh",
      "has shape [120], expected [128]" },
    { "svh too long", [](Tensors &t) { reshape(t, ".svh", { 256 }); }, ".svh",
      "has shape [256], expected [128]" },
    { "scales and signs", [](Tensors &t) { add(t, ".su", TensorType::I16, { 8 }); }, ".su",
      "is there beside" },
    { "signs too short",
      [](Tensors &t) {
          remove(t, ".svh");
          add(t, ".sv", TensorType::I16, { 7 });
      },
      ".sv", "has shape [7], expected [8]" },
    { "both markers", [](Tensors &t) { add(t, ".mcg", TensorType::I32, {}); }, ".mul1",
      "is there beside" },
    { "unknown multiplier", [](Tensors &t) { part(t, ".mul1").bytes[0] ^= 1; }, ".mul1",
      "is 0x83DCD12C: an unknown codebook; this build knows 0x83DCD12D" },
    { "multiplier of the other codebook",
      [](Tensors &t) { part(t, ".mul1").name = std::string(kModule) + ".mcg"; }, ".mcg",
      "is 0x83DCD12D: an unknown codebook; this build knows 0xCBAC1FED" },
    { "marker of another type",
      [](Tensors &t) {
          remove(t, ".mul1");
          add(t, ".mul1", TensorType::F16, {});
      },
      ".mul1", "has dtype F16 and shape [], expected one I32" },
    { "several markers",
      [](Tensors &t) {
          remove(t, ".mul1");
          add(t, ".mul1", TensorType::I32, { 2 });
      },
      ".mul1", "has dtype I32 and shape [2], expected one I32" },
    { "a scale", [](Tensors &t) { add(t, ".scale", TensorType::F16, { 128 }); }, ".scale",
      "belongs to no EXL3 version" },
    { "plain weights too", [](Tensors &t) { add(t, ".weight", TensorType::F16, { 128, 128 }); },
      ".weight", "is there beside an EXL3 group of the same module" },
    { "bias too short", [](Tensors &t) { add(t, ".bias", TensorType::F16, { 127 }); }, ".bias",
      "has shape [127], expected [128]" },
    { "bias of another type", [](Tensors &t) { add(t, ".bias", TensorType::I16, { 128 }); },
      ".bias", "has dtype I16, expected BF16, F16 or F32" },
    { "only a marker",
      [](Tensors &t) {
          for (const char *suffix : { ".trellis", ".suh", ".svh" })
              remove(t, suffix);
      },
      ".trellis", "is missing, but others of its EXL3 group are there" },
    { "nothing",
      [](Tensors &t) {
          for (const char *suffix : { ".trellis", ".suh", ".svh", ".mul1" })
              remove(t, suffix);
      },
      ".weight", "is missing" },
};

} // namespace

TEST_CASE("every malformed EXL3 module gives one line that names file and tensor")
{
    const Tensors intact = tinyTensors({ .shape = tinyExl3Shape(), .exl3 = true });
    for (const Case &item : kCases) {
        CAPTURE(std::string(item.what));
        Tensors tensors = intact;
        item.breakIt(tensors);
        const TemporaryFolder folder;
        writeFolder(folder.path(), tensors, tinyExl3Shape());
        const auto checkpoint = Checkpoint::open(folder.path());
        REQUIRE_MESSAGE(checkpoint, checkpoint.error().message);
        const auto problems = tensorProblems(*checkpoint);
        REQUIRE(problems.size() == 1);
        const Error &error = problems.front();
        CAPTURE(error.message);
        CHECK(errorCodeName(error.code) == errorCodeName(item.code));
        CHECK(error.message.starts_with(folder.path().string()));
        CHECK(error.message.contains("tensor \"" + (kModule + item.suffix) + "\" "));
        CHECK(error.message.contains(item.problem));
        CHECK_FALSE(error.message.contains('\n'));
        CHECK_FALSE(validateTensors(*checkpoint));
    }
}

TEST_CASE("an EXL3 checkpoint opens complete in every layout")
{
    ModelShape everything = tinyExl3Shape();
    everything.hasVision = true;
    everything.mtpLayerCount = 1;
    const TinyCheckpoint layouts[] = {
        { .shape = everything, .exl3 = true },
        { .shape = everything, .exl3 = true, .squeezeConvolutions = true, .misaligned = true },
        { .shape = everything, .exl3 = true, .shards = 3, .index = false },
        { .shape = tinyExl3Shape(), .type = TensorType::F16, .exl3 = true, .shards = 1 },
    };
    for (const TinyCheckpoint &layout : layouts) {
        const TemporaryFolder folder;
        writeTinyCheckpoint(folder.path(), layout);
        const auto checkpoint = Checkpoint::open(folder.path());
        REQUIRE_MESSAGE(checkpoint, checkpoint.error().message);
        CHECK(checkpoint->isExl3());
        for (const Error &problem : tensorProblems(*checkpoint))
            FAIL_CHECK(problem.message);
        const auto qkv
            = checkpoint->exl3("model.language_model.layers.0.self_attn.qkv_proj", 384, 128);
        REQUIRE(qkv);
        CHECK(qkv->rate == 4);
        CHECK(qkv->codebook == kernels::Exl3Codebook::Mul1);
        CHECK(reinterpret_cast<std::uintptr_t>(qkv->trellis) % 2 == 0);
        CHECK(checkpoint->exl3("lm_head", 384, 128)->rate == 5);
        CHECK(checkpoint->exl3("model.language_model.layers.1.mlp.experts.7.down_proj", 128, 128)
                  ->rate
              == 2);
    }
}

TEST_CASE("each module is EXL3 or plain, in the released or the fused layout")
{
    const ModelShape shape = tinyExl3Shape();
    Tensors tensors = tinyTensors({ .shape = shape, .exl3 = true });
    const Tensors released = tinyTensors({ .shape = shape });
    const auto take = [&](const std::string &name) {
        tensors.push_back(*std::ranges::find(released, name, &TinyTensor::name));
    };
    // A plain down projection between EXL3 ones, and one layer with q, k and v apart.
    const std::string expert = "model.language_model.layers.2.mlp.experts.3.down_proj";
    const std::string attention = "model.language_model.layers.1.self_attn.";
    std::erase_if(tensors, [&](const TinyTensor &tensor) {
        return tensor.name.starts_with(expert) || tensor.name.starts_with(attention + "qkv_proj")
            || tensor.name == attention + "conv1d.weight";
    });
    take(expert + ".weight");
    for (const char *part : { "q", "k", "v" }) {
        take(attention + part + "_proj.weight");
        take(attention + part + "_conv1d.weight");
    }
    const TemporaryFolder folder;
    writeFolder(folder.path(), tensors, shape);
    auto checkpoint = Checkpoint::open(folder.path());
    REQUIRE(checkpoint);
    for (const Error &problem : tensorProblems(*checkpoint))
        FAIL_CHECK(problem.message);

    // Everything decoded, but still fused.
    const TemporaryFolder plain;
    writeFolder(plain.path(), decodedTensors(tensors), shape);
    checkpoint = Checkpoint::open(plain.path());
    REQUIRE(checkpoint);
    for (const Error &problem : tensorProblems(*checkpoint))
        FAIL_CHECK(problem.message);
}

TEST_CASE("files that the index does not mention are read in an EXL3 pack, and only there")
{
    const ModelShape shape = tinyExl3Shape();
    for (const bool exl3 : { true, false }) {
        const TemporaryFolder folder;
        writeTinyCheckpoint(folder.path(), { .shape = shape, .exl3 = exl3 });
        writeSafeTensors(folder / "mtp.safetensors", { { "x", TensorType::I8, { 1 }, "a" } });
        const auto checkpoint = Checkpoint::open(folder.path());
        REQUIRE(checkpoint);
        CHECK(checkpoint->contains("x") == exl3);
    }
}

TEST_CASE("old sign words become scales of plus and minus one, a bias becomes F16")
{
    Tensors tensors = tinyTensors({ .shape = tinyExl3Shape(), .exl3 = true });
    remove(tensors, ".suh");
    remove(tensors, ".svh");
    remove(tensors, ".mul1");
    add(tensors, ".su", TensorType::I16, { 8 });
    add(tensors, ".sv", TensorType::I16, { 8 });
    part(tensors, ".su").bytes[0] = 0x05; // elements 0 and 2
    part(tensors, ".su").bytes[3] = '\x80'; // element 31
    part(tensors, ".sv").bytes[15] = 0x40; // element 126
    std::string bias;
    for (int i = 0; i < 128; ++i)
        appendElement(bias, TensorType::F32, 0.1F * static_cast<float>(i));
    tensors.push_back({ std::string(kModule) + ".bias", TensorType::F32, { 128 }, bias });
    const TemporaryFolder folder;
    writeFolder(folder.path(), tensors, tinyExl3Shape());
    const auto checkpoint = Checkpoint::open(folder.path());
    REQUIRE(checkpoint);
    const auto matrix = checkpoint->exl3(kModule, 128, 128);
    REQUIRE_MESSAGE(matrix, matrix.error().message);
    CHECK(matrix->codebook == kernels::Exl3Codebook::ThreeInst);
    REQUIRE(matrix->bias != nullptr);
    for (int i = 0; i < 128; ++i) {
        CHECK(widened(matrix->suh[i]) == (i == 0 || i == 2 || i == 31 ? -1.0F : 1.0F));
        CHECK(widened(matrix->svh[i]) == (i == 126 ? -1.0F : 1.0F));
        CHECK(matrix->bias[i] == halfBits(0.1F * static_cast<float>(i)));
    }
}
