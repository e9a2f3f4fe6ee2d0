// SPDX-License-Identifier: MIT
#include "tests/support/test_paths.h"

#include <cstdlib>
#include <iostream>

namespace firesteel::test {

namespace {

std::optional<std::filesystem::path> directoryFromEnvironment(const char *variable)
{
    const char *value = std::getenv(variable);
    if (value == nullptr || *value == '\0')
        return std::nullopt;
    return std::filesystem::path(value);
}

} // namespace

std::filesystem::path dataPath(std::string_view relative)
{
    return directoryFromEnvironment("FIRESTEEL_TEST_DATA").value_or(FIRESTEEL_TEST_DATA) / relative;
}

std::filesystem::path embeddedModelDirectory()
{
    return dataPath("../../resources/glimmer/model").lexically_normal();
}

std::filesystem::path embeddedDrafterDirectory()
{
    return dataPath("../../resources/glimmer/drafter").lexically_normal();
}

std::optional<std::filesystem::path> drafterDirectory()
{
    const auto model = modelDirectory();
    return model ? std::optional((*model / "../drafter").lexically_normal()) : std::nullopt;
}

std::optional<std::filesystem::path> modelDirectory()
{
    return directoryFromEnvironment("FIRESTEEL_MODEL");
}

std::optional<std::filesystem::path> goldenDirectory()
{
    return directoryFromEnvironment("FIRESTEEL_GOLDEN");
}

void reportSkip(std::string_view why) { std::cout << "FIRESTEEL-SKIP: " << why << '\n'; }

} // namespace firesteel::test
