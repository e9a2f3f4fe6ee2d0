// SPDX-License-Identifier: MIT
//
// Where tests find their data. tests/data is always there; the trained model and its goldens only
// where FIRESTEEL_MODEL and FIRESTEEL_GOLDEN name them.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace firesteel::test {

// Below tests/data of the tree this was built from, or FIRESTEEL_TEST_DATA where the suites run
// on another machine.
std::filesystem::path dataPath(std::string_view relative);
std::filesystem::path embeddedModelDirectory(); // resources/glimmer/model: Glimmer, EXL3
std::optional<std::filesystem::path> modelDirectory(); // Glimmer, BF16 shards
std::filesystem::path embeddedDrafterDirectory(); // resources/glimmer/drafter: its drafter, EXL3
// The same in BF16: the folder "drafter" beside modelDirectory().
std::optional<std::filesystem::path> drafterDirectory();
std::optional<std::filesystem::path> goldenDirectory(); // its reference outputs

// Prints the marker by which CTest reports the running case as skipped.
void reportSkip(std::string_view why);

} // namespace firesteel::test
