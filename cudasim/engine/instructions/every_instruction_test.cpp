// After all tests of this program: no instruction has been left out.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cudasim/engine/testing/coverage_record.h"

namespace cudasim::engine::testing {
namespace {

class EveryInstruction : public ::testing::Environment {
  void TearDown() override {
    record_handlers();
    if (::testing::GTEST_FLAG(filter) == "*") {
      EXPECT_EQ(unchecked_instructions(), std::set<std::string>());
    }
  }
};

const auto* const kAfterAllTests =
    ::testing::AddGlobalTestEnvironment(new EveryInstruction);

} // namespace
} // namespace cudasim::engine::testing
