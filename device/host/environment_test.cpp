// The older names of environment variables.
#include "device/host/environment.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace {

using accelerator::host::read_count;
using accelerator::host::renamed;

TEST(RenamedTest, NewNameGoesFirstAndNothingIsSaid) {
  setenv("NEW_A", "1", 1);
  setenv("OLD_A", "2", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_count(renamed("NEW_A", "OLD_A"), 0, 0, 9), 1);
  EXPECT_EQ(read_count(renamed("NEW_B", "OLD_B"), 7, 0, 9), 7);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(RenamedTest, OlderNameWorksWithOneWarning) {
  setenv("OLD_C", "3", 1);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read_count(renamed("NEW_C", "OLD_C"), 0, 0, 9), 3);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("OLD_C"), said.rfind("OLD_C")) << said;
  EXPECT_NE(said.find("NEW_C"), std::string::npos) << said;
}

// What is wrong is told of under the name that the user wrote.
TEST(RenamedTest, MistakeNamesTheVariableThatIsSet) {
  setenv("OLD_D", "many", 1);
  try {
    read_count(renamed("NEW_D", "OLD_D"), 0, 0, 9);
    FAIL();
  } catch (const std::invalid_argument& wrong) {
    EXPECT_EQ(std::string(wrong.what()).rfind("OLD_D=many", 0), 0u)
        << wrong.what();
  }
}

} // namespace
