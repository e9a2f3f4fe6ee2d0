// SPDX-License-Identifier: MIT
//
// What the scripted engine of firesteel-offline, the window's tests and the screenshots says: one
// answer with every kind of block, and some that are chosen by words in the question.
#pragma once

#include "tests/support/fake_engine.h"

namespace firesteel::test {

// "fail" in the question: an error in the middle. "rtl": Hebrew. "formula": TeX. "long": many
// blocks. Else the answer with every block.
FakeScript offlineScript(double tokensPerSecond);

} // namespace firesteel::test
