// SPDX-License-Identifier: MIT
//
// The trained model through the whole program: every text prompt of the goldens, greedy, word for
// word.
#include "engine/text/tokenizer.h"
#include "tests/engine/tools/cli_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <vector>

using namespace firesteel;

TEST_CASE("generate --greedy writes what float32 transformers wrote")
{
    const auto model = test::modelDirectory();
    const auto golden = test::goldenDirectory();
    if (!model || !golden)
        return test::reportSkip("FIRESTEEL_MODEL and FIRESTEEL_GOLDEN are not both set");
    const auto tokenizer = engine::Tokenizer::load(*model / "tokenizer.json");
    REQUIRE(tokenizer);
    const auto prompts = nlohmann::json::parse(test::readFile(*golden / "prompts_text.json"));
    REQUIRE(prompts.size() >= 14);
    for (const auto &[name, prompt] : prompts.items()) {
        CAPTURE(name);
        const test::CliRun run
            = test::runCli({ .arguments = { "generate", "--model", model->string(), "--raw",
                                            "--greedy", "--json", "--prompt", "-" },
                             .input = prompt.at("text"),
                             .onOutput = {} });
        REQUIRE(run.status == 0);
        const std::vector<std::int32_t> tokens = nlohmann::json::parse(run.output).at("tokens");
        CHECK(tokenizer->decode(tokens) == prompt.at("greedy_text").at("fp32").get<std::string>());
    }
}
