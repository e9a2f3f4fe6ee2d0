// SPDX-License-Identifier: MIT
//
// libFuzzer target: any bytes as the weights of an EXL3 model folder. Whatever a group of tensors
// claims to be, it is refused in one line or can be decoded without reading beside it.
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/config_writer.h"
#include "engine/checkpoint/exl3_group.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/tools/synth_shapes.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;

namespace {

// A folder with a config, for the life of the process.
class ModelFolder
{
public:
    ModelFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "firesteel-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("no temporary folder");
        m_path = name;
        std::ofstream(m_path / "config.json")
            << modelConfigJson(firstLayers(glimmerShape(), kLeastLayers), PackFacts { .bits = 3 });
        if (const auto config = readModelConfig(m_path / "config.json"); !config)
            throw std::runtime_error(config.error().message); // nothing else would be reached
    }
    ModelFolder(const ModelFolder &) = delete;
    ModelFolder &operator=(const ModelFolder &) = delete;
    ~ModelFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }

    Result<Checkpoint> openWith(const std::uint8_t *data, std::size_t size) const
    {
        std::ofstream(m_path / "model.safetensors", std::ios::binary)
            .write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(size));
        return Checkpoint::open(m_path);
    }

private:
    std::filesystem::path m_path;
};

void requireOneLine(const Error &error)
{
    if (error.message.empty() || error.message.contains('\n'))
        std::abort();
}

void decode(const Checkpoint &checkpoint, const std::string &module)
{
    const auto group = findExl3Group(checkpoint, module);
    if (!group)
        return requireOneLine(group.error());
    if (group->rate < 1 || group->rate > 8 || group->in % 128 != 0 || group->out % 128 != 0)
        std::abort();
    const auto matrix = checkpoint.exl3(module, group->out, group->in);
    if (!matrix)
        std::abort(); // it was complete a moment ago
    constexpr std::int64_t kMaxWeights = 1 << 18; // for speed
    if (group->in * group->out > kMaxWeights)
        return;
    static kernels::ThreadPool pool(1);
    std::vector<float> weights(static_cast<std::size_t>(group->in * group->out));
    kernels::dequantizeExl3(weights, *matrix, pool);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static const ModelFolder folder;
    const auto checkpoint = folder.openWith(data, size);
    if (!checkpoint) {
        requireOneLine(checkpoint.error());
        return 0;
    }
    std::set<std::string> modules;
    for (const auto &[name, tensor] : checkpoint->tensors())
        if (const std::size_t dot = name.rfind('.'); dot != std::string::npos)
            modules.insert(name.substr(0, dot));
    for (const std::string &module : modules)
        if (hasExl3Group(*checkpoint, module))
            decode(*checkpoint, module);
    for (const Error &problem : tensorProblems(*checkpoint))
        requireOneLine(problem);
    return 0;
}
