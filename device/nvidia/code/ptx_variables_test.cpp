// Which variables are found in PTX as compilers write it.
#include "device/nvidia/code/ptx_variables.h"

#include <gtest/gtest.h>

namespace accelerator::nvidia {
namespace {

std::string names(const std::string& ptx) {
  std::string all;
  for (const auto& variable : find_variables(ptx)) {
    all += variable.name + (variable.constant ? "(constant) " : " ");
  }
  return all;
}

TEST(PtxVariables, AreThoseOutsideOfFunctions) {
  EXPECT_EQ(
      names(R"(
.version 8.0
.target sm_80, debug
.address_size 64
.visible .global .align 4 .u32 counter;
.global .align 8 .b8 table[16] = {1, 2, 3, 4};
.visible .const .align 4 .f32 scale = 0f3F800000;
.visible .entry run(.param .u64 run_param_0) {
  .local .align 4 .b8 stack[8];
  { .reg .b32 one; .global .u32 inner; }
  ret;
}
.weak .global .attribute(.managed) .align 4 .u32 shared_one;
.func (.param .b32 out) helper(.param .b32 in) { ret; }
.global .u64 pointers[2] = {run, generic(table)};
)"),
      "counter table scale(constant) shared_one pointers ");
}

TEST(PtxVariables, AreNotWhatIsDeclaredOnly) {
  EXPECT_EQ(
      names(".extern .global .u32 other; .extern .shared .b8 dynamic[];"
            ".extern .func (.param .b32 r) vprintf(.param .b64 a);"),
      "");
}

TEST(PtxVariables, AreNotInCommentsAndStrings) {
  EXPECT_EQ(
      names("// .global .u32 a;\n/* .global .u32 b; { */ .global .u32 c;"
            ".file 1 \"/tmp/{.global .u32 d;\\\"\"\n.global .u32 e;"),
      "c e ");
  EXPECT_EQ(names("/* open"), "");
  EXPECT_EQ(names("\"open"), "");
  EXPECT_EQ(names(""), "");
}

} // namespace
} // namespace accelerator::nvidia
