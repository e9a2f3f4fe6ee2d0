// SPDX-License-Identifier: MIT
//
// Texts cut into windows, and two models compared over them.
#include "engine/quantize/evaluation.h"
#include "engine/quantize/token_windows.h"
#include "tests/support/loaded_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <vector>

using namespace firesteel;
using Windows = std::vector<std::vector<std::int32_t>>;

namespace {

std::filesystem::path tinyModel(const test::TemporaryFolder &folder, const char *name,
                                const test::TinyCheckpoint &options)
{
    std::filesystem::create_directory(folder.path() / name);
    test::writeTinyCheckpoint(folder.path() / name, options);
    return folder.path() / name;
}

} // namespace

TEST_CASE("a text is cut where conversations begin and where windows are full")
{
    const auto tokenizer = engine::Tokenizer::parse(test::tinyTokenizerJson(), "tokenizer.json");
    REQUIRE(tokenizer);
    const std::vector<std::int32_t> first = tokenizer->encode("[gMASK]<sop>ab");
    const std::vector<std::int32_t> second = tokenizer->encode("[gMASK]<sop><|user|>x");
    CHECK(engine::tokenWindows("[gMASK]<sop>ab[gMASK]<sop><|user|>x", *tokenizer, 100)
          == Windows { first, second });
    const Windows pieces = engine::tokenWindows("[gMASK]<sop>ab", *tokenizer, 3);
    REQUIRE(pieces.size() == (first.size() + 2) / 3);
    CHECK(pieces[0] == std::vector<std::int32_t>(first.begin(), first.begin() + 3));
    // Text ahead of the first conversation is a window of its own.
    CHECK(engine::tokenWindows("q[gMASK]<sop>ab", *tokenizer, 100)
          == Windows { tokenizer->encode("q"), first });
    CHECK(engine::tokenWindows("", *tokenizer, 100).empty());
}

TEST_CASE("a model agrees with itself, and with another as single steps say")
{
    const test::TemporaryFolder folder;
    test::LoadedModel a(tinyModel(folder, "a", { .seed = 1 }), 2);
    test::LoadedModel b(tinyModel(folder, "b", { .seed = 2 }), 2);
    std::vector<std::int32_t> longWindow;
    for (int i = 0; i < 700; ++i) // more than one slice of logits
        longWindow.push_back(i * 7 % 270);
    const Windows windows { longWindow, { 3 }, { 9, 8, 7 } };

    const auto same = engine::evaluate(*a.model, *a.model, windows, {}, {});
    REQUIRE(same);
    CHECK(same->positions == 699 + 0 + 2);
    CHECK(same->topOne == 1);
    CHECK(same->meanDivergence == 0);
    CHECK(same->teacherPerplexity == same->modelPerplexity);

    // The same numbers from one prefill of a whole window.
    engine::AgreementMeter meter;
    for (const auto &window : windows) {
        auto stateA = a.model->newSequence(static_cast<int>(window.size()));
        auto stateB = b.model->newSequence(static_cast<int>(window.size()));
        const auto logitsA = a.prefill(stateA, window, window.size());
        const auto logitsB = b.prefill(stateB, window, window.size());
        for (std::size_t row = 0; row + 1 < window.size(); ++row)
            meter.add(std::span(logitsA).subspan(row * a.vocabulary(), a.vocabulary()),
                      std::span(logitsB).subspan(row * b.vocabulary(), b.vocabulary()),
                      window[row + 1]);
    }
    double last = 0;
    const auto other = engine::evaluate(*a.model, *b.model, windows,
                                        [&](double fraction) { last = fraction; }, {});
    REQUIRE(other);
    CHECK(last == 1);
    const engine::Agreement expected = meter.result();
    CHECK(other->positions == expected.positions);
    CHECK(other->topOne == expected.topOne);
    CHECK(other->meanDivergence == expected.meanDivergence); // slices are prefill's own pieces
    CHECK(other->divergence99 == expected.divergence99);
    CHECK(other->modelPerplexity == expected.modelPerplexity);
    CHECK(other->meanDivergence > 0.1);

    engine::CancelToken cancel;
    cancel.cancel();
    const auto cancelled = engine::evaluate(*a.model, *b.model, windows, {}, cancel);
    REQUIRE_FALSE(cancelled);
    CHECK(cancelled.error().code == engine::ErrorCode::Cancelled);
}

TEST_CASE("models of different vocabularies cannot be compared")
{
    const test::TemporaryFolder folder;
    engine::ModelShape shape = test::tinyShape();
    shape.vocabularySize += 8;
    test::LoadedModel a(tinyModel(folder, "a", {}), 1);
    test::LoadedModel b(tinyModel(folder, "b", { .shape = shape }), 1);
    const auto result = engine::evaluate(*a.model, *b.model, { { 1, 2 } }, {}, {});
    REQUIRE_FALSE(result);
    CHECK(result.error().code == engine::ErrorCode::BadRequest);
    CHECK(result.error().message.find("vocabulary") != std::string::npos);
}
