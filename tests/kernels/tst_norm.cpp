// SPDX-License-Identifier: MIT
#include "kernels/norm/norm.h"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel::kernels;

TEST_CASE("RMS norm of a hand-computed row")
{
    Stream stream(1);
    const std::vector<float> x { 3, -4, 0, 0 }; // mean square 6.25
    const std::vector<float> weight { 1, 2, 3, 4 };
    std::vector<float> y(4);
    launchRmsNorm(y, x, weight, 0.0F, 1, stream);
    CHECK(y[0] == doctest::Approx(3 / 2.5));
    CHECK(y[1] == doctest::Approx(2 * -4 / 2.5));
    CHECK(y[2] == 0.0F);
    launchRmsNorm(y, std::vector<float>(4, 0.0F), weight, 1e-5F, 1, stream);
    CHECK(y == std::vector<float>(4, 0.0F));
}

TEST_CASE("layer norm subtracts the mean and uses the biased variance")
{
    Stream stream(1);
    const std::vector<float> x { 1, 2, 3, 4, 10, 10, 10, 10 };
    std::vector<float> y(8);
    launchLayerNorm(y, x, std::vector<float>(4, 2.0F), std::vector<float>(4, 0.5F), 1e-6F, 2,
                    stream);
    const double scale = 2 / std::sqrt(1.25 + 1e-6);
    CHECK(y[0] == doctest::Approx(-1.5 * scale + 0.5));
    CHECK(y[3] == doctest::Approx(1.5 * scale + 0.5));
    for (std::size_t c = 4; c < 8; ++c)
        CHECK(y[c] == 0.5F); // constant row: only the bias is left
}
