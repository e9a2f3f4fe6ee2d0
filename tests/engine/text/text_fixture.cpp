// SPDX-License-Identifier: MIT
#include "tests/engine/text/text_fixture.h"

#include "tests/support/test_paths.h"

#include <fstream>
#include <stdexcept>

namespace firesteel::test {

const engine::Tokenizer &testTokenizer()
{
    static const engine::Tokenizer tokenizer = [] {
        auto loaded = engine::Tokenizer::load(dataPath("tokenizer/tokenizer.json"));
        if (!loaded)
            throw std::runtime_error(loaded.error().message);
        return std::move(*loaded);
    }();
    return tokenizer;
}

nlohmann::ordered_json readTestJson(std::string_view relative)
{
    std::ifstream stream(dataPath(relative));
    return nlohmann::ordered_json::parse(stream);
}

} // namespace firesteel::test
