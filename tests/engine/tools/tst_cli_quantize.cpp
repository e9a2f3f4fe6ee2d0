// SPDX-License-Identifier: MIT
//
// quantize and eval as processes: what they print, how they are stopped, and that a run killed at
// once goes on.
#include "tests/engine/tools/cli_process.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_values.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace firesteel;
using test::CliRun;
using test::runCli;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

CliRun run(Words arguments)
{
    return runCli({ .arguments = std::move(arguments), .input = {}, .onOutput = {} });
}

// A folder of four matrices of another architecture, and rates for it.
class Matrices
{
public:
    Matrices()
    {
        test::RandomValues random(1);
        std::vector<test::TinyTensor> tensors;
        for (const char *name : { "a.weight", "b.weight", "c.weight", "d.weight" }) {
            test::TinyTensor tensor {
                .name = name, .type = engine::TensorType::F32, .shape = { 128, 128 }, .bytes = {}
            };
            for (int i = 0; i < 128 * 128; ++i)
                test::appendElement(tensor.bytes, tensor.type, test::normal(random));
            tensors.push_back(std::move(tensor));
        }
        fs::create_directory(m_folder / "in");
        test::writeSafeTensors(m_folder / "in/model.safetensors", tensors);
        test::writeFile(m_folder / "in/config.json", R"({"model_type": "other"})");
        test::writeFile(m_folder / "rates", "* 2\n");
    }
    Words command(const std::string &target) const
    {
        return { "quantize", "--cpu", "--threads",  "1",       "--in",
                 path("in"), "--out", path(target), "--rates", path("rates") };
    }
    std::string path(const std::string &name) const { return (m_folder / name).string(); }

private:
    test::TemporaryFolder m_folder;
};

} // namespace

TEST_CASE("quantize reports what it made, killed at once it goes on to the same files")
{
    const Matrices matrices;
    const CliRun whole = run(matrices.command("whole"));
    CAPTURE(whole.error);
    REQUIRE(whole.status == 0);
    CHECK(whole.output.find("note: this architecture has no forward pass") != std::string::npos);
    CHECK(whole.output.find("4 matrices") != std::string::npos);
    CHECK(whole.output.find("2.000 bits") != std::string::npos);
    CHECK(whole.error.find("quantizing 100.0 %") != std::string::npos);

    const CliRun killed = runCli({ .arguments = matrices.command("killed"),
                                   .input = {},
                                   .onOutput = {},
                                   .onError = [](const std::string &error) {
                                       return error.contains("quantizing") ? SIGKILL : 0;
                                   } });
    CHECK(killed.status == 128 + SIGKILL);
    CHECK(fs::exists(matrices.path("killed/quantize.journal")));
    const CliRun resumed = run(matrices.command("killed"));
    REQUIRE(resumed.status == 0);
    CHECK(resumed.output.find("from an earlier run") != std::string::npos);
    CHECK(test::readFile(matrices.path("killed/model.safetensors"))
          == test::readFile(matrices.path("whole/model.safetensors")));
    CHECK_FALSE(fs::exists(matrices.path("killed/quantize.journal")));
}

TEST_CASE("a signal stops quantize between matrices with one line")
{
    const Matrices matrices;
    const CliRun stopped = runCli({ .arguments = matrices.command("out"),
                                    .input = {},
                                    .onOutput = {},
                                    .onError = [](const std::string &error) {
                                        return error.contains("quantizing") ? SIGTERM : 0;
                                    } });
    CHECK(stopped.status == 1);
    CHECK(stopped.output.empty());
    CHECK(stopped.error.ends_with("firesteel-cli: Quantizing was cancelled.\n"));
}

TEST_CASE("eval prints the same numbers as text and as JSON")
{
    const test::TemporaryFolder folder;
    for (const std::uint64_t seed : { 1U, 2U }) {
        const fs::path model = folder / std::to_string(seed);
        fs::create_directory(model);
        test::writeTinyCheckpoint(model, { .seed = seed });
    }
    test::writeFile(folder / "text", "[gMASK]<sop>one two three[gMASK]<sop><|user|>four");
    const Words command { "eval",
                          "--threads",
                          "1",
                          "--teacher",
                          (folder / "1").string(),
                          "--text",
                          (folder / "text").string() };
    const auto with = [&](Words more) {
        more.insert(more.begin(), command.begin(), command.end());
        return run(more);
    };
    const CliRun self = with({ "--model", (folder / "1").string(), "--json" });
    REQUIRE(self.status == 0);
    const auto report = nlohmann::json::parse(self.output);
    CHECK(report.at("top1_agreement") == 1);
    CHECK(report.at("mean_kl_divergence") == 0);
    CHECK(report.at("teacher_perplexity") == report.at("model_perplexity"));

    const auto other
        = nlohmann::json::parse(with({ "--model", (folder / "2").string(), "--json" }).output);
    CHECK(other.at("mean_kl_divergence") > 0);
    CHECK(other.at("positions") == report.at("positions"));
    const CliRun text = with({ "--model", (folder / "2").string() });
    CHECK(text.output.find("positions             "
                           + std::to_string(other.at("positions").get<int>()))
          != std::string::npos);
    CHECK(std::ranges::count(text.output, '\n') == 6);
}

TEST_CASE("wrong usage of quantize and eval is told in one line with status 2")
{
    const Matrices matrices;
    const auto check = [](const Words &arguments, const std::string &named) {
        CAPTURE(named);
        const CliRun wrong = run(arguments);
        CHECK(wrong.status == 2);
        CHECK(wrong.output.empty());
        CHECK(std::ranges::count(wrong.error, '\n') == 1);
        CHECK(wrong.error.find(named) != std::string::npos);
    };
    check({ "quantize", "--in", "a", "--out", "b" }, "--rates");
    check({ "quantize", "--codebook", "best" }, "'best'");
    check({ "quantize", "--prompt", "a" }, "'--prompt'");
    check({ "eval", "--model", "a", "--text", "b" }, "--teacher");
    check({ "eval", "--rates", "a" }, "'--rates'");
    test::writeFile(matrices.path("rates"), "* two\n");
    check(matrices.command("out"), "line 1");
}
