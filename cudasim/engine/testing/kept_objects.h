// Compiles the same native code once in a test, however many devices it has.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace cudasim::engine::testing {

/// Runs of a test differ in values and launches, and mostly not in code: what
/// one has had compiled, the others find. The folder is the test's own, so that
/// all is compiled once.
inline const bool kObjectsAreKept =
    setenv(
        "CUDASIM_NATIVE_CACHE",
        (::testing::TempDir() + "/objects").c_str(),
        1) == 0;

} // namespace cudasim::engine::testing
