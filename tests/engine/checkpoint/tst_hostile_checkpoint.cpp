// SPDX-License-Identifier: MIT
//
// A complete tiny model folder, broken in one way at a time. Whatever is wrong, loading gives one
// line that names the file and the tensor or field, and neither crashes nor hangs. What a header or
// a field may say is tested in detail beside its parser; here it is whole folders and everything
// that reads them.
#include "engine/serve/loaded_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <doctest/doctest.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace firesteel::engine;
using namespace firesteel::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char *kShard1 = "model-00001-of-00002.safetensors";
constexpr const char *kShard2 = "model-00002-of-00002.safetensors";
constexpr const char *kIndex = "model.safetensors.index.json";
constexpr const char *kEmbedding = "model.language_model.embed_tokens.weight";

Result<void> load(const fs::path &folder)
{
    const LoadOptions options {
        .modelDirectory = folder, .contextTokens = 64, .threads = 1, .memoryReserveBytes = 0
    };
    const auto loaded = LoadedModel::load(options, [](const LoadProgress &) { }, {});
    if (!loaded)
        return std::unexpected(loaded.error());
    return {};
}

using Break = std::function<void(const fs::path &)>;

Break content(std::string name, std::string text)
{
    return [=](const fs::path &folder) { writeFile(folder / name, text); };
}

Break truncated(std::string name, std::uintmax_t bytes)
{
    return [=](const fs::path &folder) { fs::resize_file(folder / name, bytes); };
}

Break removed(std::string name)
{
    return [=](const fs::path &folder) { REQUIRE(fs::remove(folder / name)); };
}

Break folderInstead(std::string name)
{
    return [=](const fs::path &folder) {
        fs::remove(folder / name);
        fs::create_directory(folder / name);
    };
}

Break fifoInstead(std::string name)
{
    return [=](const fs::path &folder) {
        fs::remove(folder / name);
        REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
    };
}

Break linkLoopInstead(std::string name)
{
    return [=](const fs::path &folder) {
        fs::remove(folder / name);
        fs::create_symlink(name, folder / name);
    };
}

Break edited(std::string name, const std::function<void(json &)> &edit)
{
    return [=](const fs::path &folder) {
        json document = json::parse(readFile(folder / name));
        edit(document);
        writeFile(folder / name, document.dump());
    };
}

Break field(const char *pointer, const json &value)
{
    return edited("config.json",
                  [=](json &config) { config.at(json::json_pointer(pointer)) = value; });
}

Break text(const char *name, const std::string &before, const std::string &after)
{
    return [=](const fs::path &folder) {
        std::string all = readFile(folder / name);
        const std::size_t at = all.find(before);
        REQUIRE(at != std::string::npos);
        writeFile(folder / name, all.replace(at, before.size(), after));
    };
}

// Edits the first shard's header, keeping its data.
Break header(const std::function<void(json &)> &edit)
{
    return [=](const fs::path &folder) {
        const std::string file = readFile(folder / kShard1);
        std::size_t length = 0;
        for (unsigned i = 8; i-- > 0;)
            length = length << 8U | static_cast<unsigned char>(file[i]);
        json directory = json::parse(file.substr(8, length));
        edit(directory);
        const std::string changed = directory.dump();
        std::string prefix;
        for (unsigned i = 0; i < 8; ++i)
            prefix += static_cast<char>(changed.size() >> 8 * i & 0xFF);
        writeFile(folder / kShard1, prefix + changed + file.substr(8 + length));
    };
}

Break entry(const char *member, const json &value)
{
    return header([=](json &directory) { directory.at(kEmbedding).at(member) = value; });
}

Break headerLength(std::uint64_t length)
{
    return [=](const fs::path &folder) {
        std::string file = readFile(folder / kShard1);
        for (unsigned i = 0; i < 8; ++i)
            file[i] = static_cast<char>(length >> 8 * i & 0xFF);
        writeFile(folder / kShard1, file);
    };
}

Break indexEntry(const json &value)
{
    return edited(kIndex, [=](json &index) { index["weight_map"][kEmbedding] = value; });
}

struct Case
{
    const char *what;
    Break breakIt;
    ErrorCode code;
    std::string file; // must be named
    std::string problem; // tensor or field and what is wrong
};

const std::string kDeep = std::string(200'000, '[') + std::string(200'000, ']');

// One case per line.
// clang-format off
const Case kCases[] = {
    // the folder and its files
    { "no config", removed("config.json"), ErrorCode::NotFound, "config.json", "cannot open" },
    { "no tokenizer", removed("tokenizer.json"), ErrorCode::NotFound, "tokenizer.json", "" },
    { "missing shard", removed(kShard2), ErrorCode::NotFound, kShard2, "cannot open" },
    { "index without any shard", [](const fs::path &f) { fs::remove(f / kShard1); fs::remove(f / kShard2); }, ErrorCode::NotFound, kShard1, "cannot open" },
    { "neither index nor shards", [](const fs::path &f) { fs::remove(f / kShard1); fs::remove(f / kShard2); fs::remove(f / kIndex); }, ErrorCode::NotFound, "", "no .safetensors file" },
    { "folder instead of config", folderInstead("config.json"), ErrorCode::Io, "config.json", "is a folder" },
    { "folder instead of shard", folderInstead(kShard1), ErrorCode::Io, kShard1, "is a folder" },
    { "folder instead of index", folderInstead(kIndex), ErrorCode::Io, kIndex, "is a folder" },
    { "folder instead of generation config", folderInstead("generation_config.json"), ErrorCode::Io, "generation_config.json", "is a folder" },
    { "FIFO instead of shard", fifoInstead(kShard1), ErrorCode::Io, kShard1, "not a regular file" },
    { "FIFO instead of config", fifoInstead("config.json"), ErrorCode::Io, "config.json", "not a regular file" },
    { "link to itself", linkLoopInstead(kShard2), ErrorCode::Io, kShard2, "symbolic links" },
    { "device instead of config", [](const fs::path &f) { fs::remove(f / "config.json"); fs::create_symlink("/dev/zero", f / "config.json"); }, ErrorCode::Io, "config.json", "not a regular file" },

    // shards
    { "empty shard", truncated(kShard1, 0), ErrorCode::BadCheckpoint, kShard1, "has 0 bytes" },
    { "seven bytes", truncated(kShard1, 7), ErrorCode::BadCheckpoint, kShard1, "has 7 bytes" },
    { "truncated header", truncated(kShard1, 500), ErrorCode::BadCheckpoint, kShard1, "declares a header of" },
    { "truncated data", [](const fs::path &f) { fs::resize_file(f / kShard1, fs::file_size(f / kShard1) - 1); }, ErrorCode::BadCheckpoint, kShard1, "tensor \"" },
    { "trailing data", [](const fs::path &f) { fs::resize_file(f / kShard1, fs::file_size(f / kShard1) + 16); }, ErrorCode::BadCheckpoint, kShard1, "the last 16 bytes belong to no tensor" },
    { "huge header length", headerLength(~0ULL), ErrorCode::BadCheckpoint, kShard1, "18446744073709551615" },
    { "header length over the limit", headerLength(100'000'001), ErrorCode::BadCheckpoint, kShard1, "safetensors allows 100000000" },
    { "header length of zero", headerLength(0), ErrorCode::BadCheckpoint, kShard1, "the header is not JSON" },
    { "header length one short", [](const fs::path &f) { headerLength(static_cast<unsigned char>(readFile(f / kShard1)[0]) - 1U)(f); }, ErrorCode::BadCheckpoint, kShard1, "the header is not JSON" },
    { "shard is text", content(kShard1, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), ErrorCode::BadCheckpoint, kShard1, "declares a header of" },
    { "deeply nested header", content(kShard1, std::string("\x80\x1A\x06\0\0\0\0\0", 8) + kDeep), ErrorCode::BadCheckpoint, kShard1, "the header is not JSON: it is nested too deeply" },
    { "overlapping tensors", header([](json &h) { h["lm_head.weight"] = h.at(kEmbedding); }), ErrorCode::BadCheckpoint, kShard1, "overlaps tensor" },
    { "bytes of no tensor", header([](json &h) { h.erase(kEmbedding); }), ErrorCode::BadCheckpoint, kShard1, "belong to no tensor" },
    { "offsets beyond the file", entry("data_offsets", { 0, 1ULL << 60 }), ErrorCode::BadCheckpoint, kShard1, "tensor \"model.language_model.embed_tokens.weight\" lies at bytes" },
    { "offsets reversed", entry("data_offsets", { 40960, 0 }), ErrorCode::BadCheckpoint, kShard1, "lies at bytes 40960..0" },
    { "negative shape", entry("shape", { -320, -64 }), ErrorCode::BadCheckpoint, kShard1, "tensor \"model.language_model.embed_tokens.weight\" has a \"shape\" with -320" },
    { "shape overflows", entry("shape", { 1ULL << 62, 1ULL << 62 }), ErrorCode::BadCheckpoint, kShard1, "overflows 64 bits" },
    { "shape disagrees with the data", entry("shape", { 320, 65 }), ErrorCode::BadCheckpoint, kShard1, "has 40960 bytes of data where its shape and dtype BF16 need 41600" },
    { "unknown dtype", entry("dtype", "BF17"), ErrorCode::BadCheckpoint, kShard1, "unknown dtype \"BF17\"" },
    { "dtype disagrees with the data", entry("dtype", "F32"), ErrorCode::BadCheckpoint, kShard1, "need 81920" },
    { "dtype that is not plain", entry("dtype", "I16"), ErrorCode::BadCheckpoint, kShard1, "has dtype I16, expected BF16, F16 or F32" },
    { "wrong shape of the same size", entry("shape", { 64, 320 }), ErrorCode::BadCheckpoint, kShard1, "has shape [64, 320], expected [320, 64]" },
    { "tensor in two shards", [](const fs::path &f) { fs::copy_file(f / kShard1, f / "model-00003.safetensors"); fs::remove(f / kIndex); }, ErrorCode::BadCheckpoint, "model-00003.safetensors", "is also in model-00001-of-00002.safetensors" },
    { "missing tensor", [](const fs::path &f) { auto tensors = tinyTensors(); tensors.pop_back(); writeSafeTensors(f / kShard1, tensors); fs::remove(f / kShard2); fs::remove(f / kIndex); }, ErrorCode::BadCheckpoint, "", "tensor \"model.language_model.layers.4.mlp.experts.7.down_proj.weight\" is missing" },

    // the index
    { "index is empty", content(kIndex, ""), ErrorCode::BadCheckpoint, kIndex, "not JSON" },
    { "index is a list", content(kIndex, "[1]"), ErrorCode::BadCheckpoint, kIndex, "not a JSON object" },
    { "index without weight_map", content(kIndex, "{}"), ErrorCode::BadCheckpoint, kIndex, "weight_map is missing" },
    { "index with an empty weight_map", content(kIndex, R"({"weight_map":{}})"), ErrorCode::BadCheckpoint, kIndex, "weight_map is empty" },
    { "index names an absent tensor", edited(kIndex, [](json &i) { i["weight_map"]["model.more"] = kShard1; }), ErrorCode::BadCheckpoint, kShard1, "has no tensor \"model.more\"" },
    { "index names the wrong shard", indexEntry(kShard2), ErrorCode::BadCheckpoint, kShard2, "has no tensor \"model.language_model.embed_tokens.weight\"" },
    { "index leaves the folder", indexEntry("../model.safetensors"), ErrorCode::BadCheckpoint, kIndex, "is \"../model.safetensors\", expected a .safetensors file in the same folder" },
    { "index names an absolute path", indexEntry("/etc/x.safetensors"), ErrorCode::BadCheckpoint, kIndex, "is \"/etc/x.safetensors\", expected" },
    { "index hides a path behind a NUL", indexEntry(std::string("/etc/passwd\0.safetensors", 24)), ErrorCode::BadCheckpoint, kIndex, "is \"/etc/passwd\\x00.safetensors\", expected" },
    { "index names no file", indexEntry(7), ErrorCode::BadCheckpoint, kIndex, "weight_map.model.language_model.embed_tokens.weight is not a file name" },

    // config.json
    { "config is empty", content("config.json", ""), ErrorCode::BadCheckpoint, "config.json", "not JSON" },
    { "config is not JSON", content("config.json", "<html>404</html>"), ErrorCode::BadCheckpoint, "config.json", "not JSON" },
    { "config is cut off", truncated("config.json", 300), ErrorCode::BadCheckpoint, "config.json", "not JSON" },
    { "config is deeply nested", content("config.json", R"({"model_type":)" + kDeep + "}"), ErrorCode::BadCheckpoint, "config.json", "not JSON: it is nested too deeply" },
    { "config is enormous", content("config.json", std::string((16U << 20U) + 1, ' ')), ErrorCode::BadCheckpoint, "config.json", "no config is that large" },
    { "config with NaN", text("config.json", "\"swiglu_limit\": 10.0", "\"swiglu_limit\": NaN"), ErrorCode::BadCheckpoint, "config.json", "not JSON" },
    { "config with an infinite number", text("config.json", "\"swiglu_limit\": 10.0", "\"swiglu_limit\": 1e999"), ErrorCode::BadCheckpoint, "config.json", "not JSON" },
    { "config with a field twice", text("config.json", "\"hc_mult\": 4", "\"hc_mult\": 4, \"hc_mult\": 4"), ErrorCode::BadCheckpoint, "config.json", "text_config.hc_mult is there twice" },
    { "another model", field("/model_type", "llama"), ErrorCode::UnsupportedModel, "config.json", "model_type is \"llama\"" },
    { "a field missing", edited("config.json", [](json &c) { c["text_config"].erase("kv_lora_rank"); }), ErrorCode::UnsupportedModel, "config.json", "text_config.kv_lora_rank is missing" },
    { "a field of the wrong type", field("/text_config/hidden_size", "64"), ErrorCode::BadCheckpoint, "config.json", "text_config.hidden_size is \"64\", expected an integer" },
    { "a value without a kernel", field("/text_config/hc_mult", 8), ErrorCode::UnsupportedModel, "config.json", "text_config.hc_mult is 8, this build implements 4" },
    { "a huge dimension", field("/text_config/hidden_size", 1ULL << 62), ErrorCode::UnsupportedModel, "config.json", "text_config.hidden_size is 4611686018427387904" },
    { "more experts than any machine holds", field("/text_config/n_routed_experts", 2147483647), ErrorCode::UnsupportedModel, "config.json", "text_config.n_routed_experts is 2147483647" },
    { "more experts than the file has", field("/text_config/n_routed_experts", 9), ErrorCode::BadCheckpoint, kShard1, "has shape [8, 64], expected [9, 64]" },
    { "more layers than the lists", field("/text_config/num_hidden_layers", 6), ErrorCode::BadCheckpoint, "config.json", "text_config.layer_types has 5 entries, expected 6" },
    { "quantised", edited("config.json", [](json &c) { c["quantization_config"] = { { "quant_method", "fp8" } }; }), ErrorCode::UnsupportedModel, "config.json", "quantised as fp8" },

    // the other files
    { "generation config is not JSON", content("generation_config.json", "{"), ErrorCode::BadCheckpoint, "generation_config.json", "not JSON" },
    { "generation config out of range", content("generation_config.json", R"({"temperature": -2})"), ErrorCode::BadCheckpoint, "generation_config.json", "temperature is -2" },
    { "tokenizer is empty", content("tokenizer.json", ""), ErrorCode::BadCheckpoint, "tokenizer.json", "" },
    { "tokenizer is not JSON", content("tokenizer.json", "hello"), ErrorCode::BadCheckpoint, "tokenizer.json", "" },
    { "tokenizer of another kind", edited("tokenizer.json", [](json &t) { t["model"]["type"] = "Unigram"; }), ErrorCode::BadCheckpoint, "tokenizer.json", "Unigram" },
    { "tokenizer merges an unknown token", edited("tokenizer.json", [](json &t) { t["model"]["merges"].push_back({ "qqq", "zzz" }); }), ErrorCode::BadCheckpoint, "tokenizer.json", "" },
};
// clang-format on

} // namespace

TEST_CASE("every broken model folder gives one line that names the cause")
{
    const TemporaryFolder intact;
    writeTinyCheckpoint(intact.path());
    REQUIRE(load(intact.path()));
    for (const Case &item : kCases) {
        CAPTURE(std::string(item.what));
        const TemporaryFolder folder;
        fs::copy(intact.path(), folder.path());
        item.breakIt(folder.path());
        const auto result = load(folder.path());
        REQUIRE_FALSE(result);
        const Error &error = result.error();
        CAPTURE(error.message);
        CHECK(errorCodeName(error.code) == errorCodeName(item.code));
        const fs::path named = item.file.empty() ? folder.path() : folder.path() / item.file;
        CHECK(error.message.starts_with(named.string() + ": "));
        CHECK(error.message.contains(item.problem));
        CHECK_FALSE(error.message.contains('\n'));
        CHECK(error.message.size() < 600);
        MESSAGE(std::string_view(item.what), ": ",
                error.message.substr(folder.path().string().size()));
    }
}

TEST_CASE("folders that are no folders are refused")
{
    const TemporaryFolder folder;
    writeFile(folder / "file", "x");
    const std::pair<fs::path, std::string_view> cases[]
        = { { folder / "absent", "no such folder" },
            { folder / "file", "is not a folder" },
            { folder.path(), "config.json: cannot open" },
            { "", "no such folder" } };
    for (const auto &[path, why] : cases) {
        const auto result = Checkpoint::open(path);
        REQUIRE_FALSE(result);
        CHECK(result.error().message.contains(path.string()));
        CHECK(result.error().message.contains(why));
    }
}

TEST_CASE("an unreadable file is named with the system's reason")
{
    if (::geteuid() == 0)
        return; // root may read anything; MappedFile's errors are tested without permissions too
    const TemporaryFolder folder;
    writeTinyCheckpoint(folder.path());
    fs::permissions(folder / kShard2, fs::perms::none);
    const auto result = load(folder.path());
    REQUIRE_FALSE(result);
    CHECK(result.error().message.contains(kShard2));
    CHECK(result.error().message.contains("Permission denied"));
}
