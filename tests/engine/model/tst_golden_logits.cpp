// SPDX-License-Identifier: MIT
//
// Glimmer against float32 transformers: the trained BF16 weights on every text prompt of the golden
// set, and the embedded EXL3 model on those whose references come with the tests.
#include "tests/engine/model/golden_prompt.h"
#include "tests/support/test_paths.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel::test;

namespace {

void checkTrained(const std::string &name)
{
    const auto goldens = goldenDirectory();
    if (!goldens)
        return reportSkip("FIRESTEEL_GOLDEN is not set");
    if (LoadedModel *model = trainedModel())
        checkPrompt(*model, *goldens / ("prompt_" + name + ".safetensors"));
}

void checkEmbedded(const std::string &name)
{
    checkPrompt(embeddedModel(), dataPath("embedded") / ("prompt_" + name + ".safetensors"));
}

} // namespace

TEST_CASE("golden logits: short_chat") { checkTrained("short_chat"); }
TEST_CASE("golden logits: thinking") { checkTrained("thinking"); }
TEST_CASE("golden logits: tool_call") { checkTrained("tool_call"); }
TEST_CASE("golden logits: tool_result") { checkTrained("tool_result"); }
TEST_CASE("golden logits: multi_turn") { checkTrained("multi_turn"); }
TEST_CASE("golden logits: code") { checkTrained("code"); }
TEST_CASE("golden logits: count") { checkTrained("count"); }
TEST_CASE("golden logits: empty") { checkTrained("empty"); }
TEST_CASE("golden logits: json") { checkTrained("json"); }
TEST_CASE("golden logits: story") { checkTrained("story"); }
TEST_CASE("golden logits: system") { checkTrained("system"); }
TEST_CASE("golden logits: unicode") { checkTrained("unicode"); }
TEST_CASE("golden logits: retrieval_200") { checkTrained("retrieval_200"); }
TEST_CASE("golden logits: retrieval_1500") { checkTrained("retrieval_1500"); }

TEST_CASE("embedded logits: short_chat") { checkEmbedded("short_chat"); }
TEST_CASE("embedded logits: thinking") { checkEmbedded("thinking"); }
TEST_CASE("embedded logits: tool_call") { checkEmbedded("tool_call"); }
TEST_CASE("embedded logits: multi_turn") { checkEmbedded("multi_turn"); }
TEST_CASE("embedded logits: json") { checkEmbedded("json"); }
TEST_CASE("embedded logits: unicode") { checkEmbedded("unicode"); }
TEST_CASE("embedded logits: count") { checkEmbedded("count"); }
