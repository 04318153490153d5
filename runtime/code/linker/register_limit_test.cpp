// Which kernels of a text get a limit on registers.
#include "runtime/code/linker/register_limit.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/code/linker/unit.h"

namespace accelerator::linker {
namespace {

const std::string kHead = ".version 7.0\n.target sm_80\n.address_size 64\n";

TEST(RegisterLimit, IsWrittenAtKernelsThatHaveABody) {
  EXPECT_EQ(
      limit_registers(
          "a",
          kHead +
              ".visible .entry k(.param .b32 x) // { .maxnreg 4\n"
              "{ ret; }\n"
              ".func f()\n{ ret; }\n.extern .func g();\n.entry l\n{ ret; }\n",
          38),
      kHead +
          ".visible .entry k(.param .b32 x) .maxnreg 38 // { .maxnreg 4\n"
          "{ ret; }\n"
          ".func f()\n{ ret; }\n.extern .func g();\n"
          ".entry l .maxnreg 38\n{ ret; }\n");
}

TEST(RegisterLimit, LeavesKernelsThatSayWhatTheyAreFor) {
  for (const char* const bound :
       {".maxnreg 64",
        ".maxntid 64, 1, 1",
        ".reqntid 32",
        ".maxntid 64\n.minnctapersm 2"}) {
    const std::string text = kHead + ".entry k()\n" + bound + "\n{ ret; }\n";
    EXPECT_EQ(limit_registers("a", text, 38), text);
  }
}

TEST(RegisterLimit, OfNoneChangesNothing) {
  EXPECT_EQ(limit_registers("a", "no PTX", 0), "no PTX");
  EXPECT_THROW(limit_registers("a", "no PTX", 1), SyntaxError);
}

} // namespace
} // namespace accelerator::linker
