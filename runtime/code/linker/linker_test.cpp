// What the linked text looks like, and what is left of the inputs. That devices
// take it, //runtime/api/driver:driver_test shows; that NVIDIA's linker
// takes and refuses the same, //runtime/code/nvjitlink:nvjitlink_test.
#include "runtime/code/linker/linker.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace accelerator::linker {
namespace {

const std::string kHead = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// The linked text of inputs, which are called a, b and so on.
std::string linked(const std::vector<std::string>& inputs) {
  Linker linker;
  std::string name = "a";
  for (const std::string& input : inputs) {
    linker.add(name, kHead + input);
    ++name[0];
  }
  return linker.link();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Linker, ASingleInputStaysAsItIs) {
  const std::string text =
      kHead + "// a comment\n.visible .func f()\n{\n ret;\n}\n";
  Linker linker;
  linker.add("a", text + std::string(3, '\0'));
  EXPECT_EQ(linker.inputs(), 1u);
  EXPECT_EQ(linker.link(), text);
}

TEST(Linker, TheHeaderIsOfTheNewestInput) {
  Linker linker;
  linker.add("a", ".version 6.5\n.target sm_90\n.address_size 64\n");
  linker.add("b", ".version 8.0\n.target sm_52, debug\n.address_size 64\n");
  linker.add("c", ".version 7.8\n.target sm_90a\n.address_size 64\n");
  const std::string text = linker.link();
  EXPECT_EQ(
      text.substr(0, text.find(".address")), ".version 8.0\n.target sm_90a\n");
}

TEST(Linker, FunctionsAreDeclaredBeforeAnythingNamesThem) {
  const std::string text = linked(
      {".extern .func g();\n.visible .global .u64 table[1] = {g};",
       ".visible .func g()\n{ ret; }"});
  EXPECT_LT(text.find(".visible .func g();"), text.find("table"));
  EXPECT_LT(text.find("table"), text.find(".visible .func g()\n{"));
  EXPECT_EQ(count(text, ".extern"), 0u);
}

TEST(Linker, VariablesStandBeforeThoseThatNameThem) {
  const std::string text = linked(
      {".extern .global .u32 x[2];\n.visible .global .u64 y = generic(x)+4, z;",
       ".visible .global .align 8 .u32 x[2] = {1, 2};"});
  EXPECT_LT(text.find("x[2] = {1, 2};"), text.find("y = generic(x)+4;"));
  EXPECT_NE(text.find(".visible .global .u64 z;"), std::string::npos) << text;
  // Two that name each other are no endless loop.
  EXPECT_EQ(
      count(
          linked(
              {".extern .global .u64 q;\n.visible .global .u64 p = q;",
               ".extern .global .u64 p;\n.visible .global .u64 q = p;"}),
          ".visible"),
      2u);
}

TEST(Linker, DynamicSharedMemoryIsDeclaredOnceAsTheMostAlignedOne) {
  const std::string text = linked(
      {".extern .shared .align 4 .b8 s[];",
       ".extern .shared .align 16 .b8 s[];",
       ".extern .shared .align 8 .b8 s[];"});
  EXPECT_EQ(count(text, ".shared"), 1u);
  EXPECT_NE(text.find(".align 16"), std::string::npos);
}

TEST(Linker, StaticNamesAreChangedWhereTwoInputsHaveThem) {
  const std::string input =
      ".func mul() { bra x; x: @mul mul.lo.u32 a, mul, b; call mul; ret; }\n"
      ".global .u32 only$;";
  const std::string text =
      linked({input, input, ".visible .func mul() { ret; }"});
  // The function of all inputs has the name; opcodes stay.
  EXPECT_NE(text.find(".visible .func mul() {"), std::string::npos);
  for (const std::string name : {"mul$2", "mul$3"}) {
    EXPECT_NE(
        text.find(
            ".func " + name + "() { bra x; x: @" + name + " mul.lo.u32 a, " +
            name + ", b; call " + name + "; ret; }"),
        std::string::npos)
        << text;
  }
  EXPECT_NE(text.find(".global .u32 only$;"), std::string::npos);
  EXPECT_NE(text.find(".global .u32 only$$2;"), std::string::npos);
}

TEST(Linker, KernelsOfOneNameStayApartWhenTheyAreStatic) {
  const std::string text =
      linked({".entry k() { ret; }", ".entry k() { exit; }"});
  EXPECT_NE(text.find(".entry k() { ret; }"), std::string::npos);
  EXPECT_NE(text.find(".entry k$2() { exit; }"), std::string::npos);
}

TEST(Linker, SourceFilesGetOtherIndices) {
  const std::string input =
      ".file 1 \"x.cu\", 12, 34\n.file 2 \"y.h\"\n"
      ".visible .entry k@() {\n.loc 1 5 3\n"
      ".loc 2 7 1, function_name $L__info0, inlined_at 1 5 3\nret; }\n"
      ".section .debug_str { $L__info0: .b8 1,2,3 }\n";
  std::string first = input, second = input;
  first.replace(first.find('@'), 1, "1");
  second.replace(second.find('@'), 1, "2");
  const std::string text = linked({first, second});
  EXPECT_NE(text.find(".file 1 \"x.cu\", 12, 34\n"), std::string::npos);
  EXPECT_NE(text.find(".file 4 \"y.h\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find(".loc 1 5 3\n.loc 2 7 1\nret;"), std::string::npos);
  EXPECT_NE(text.find(".loc 3 5 3\n.loc 4 7 1\nret;"), std::string::npos);
  EXPECT_EQ(count(text, "info0"), 0u);
}

TEST(Linker, AnAliasIsAFunctionForOthers) {
  const std::string text = linked(
      {".visible .func f() { ret; }\n.visible .func g();\n.alias g, f;",
       ".extern .func g();\n.visible .entry k() { call g; ret; }"});
  EXPECT_EQ(count(text, ".visible .func g();"), 1u);
  EXPECT_EQ(count(text, ".alias g, f;"), 1u);
  EXPECT_EQ(count(text, ".extern"), 0u);
}

TEST(Linker, WhatADeviceHasItselfStaysDeclared) {
  const std::string print =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".func p() { call (r), vprintf, (f, a); }";
  const std::string text = linked({print, print});
  EXPECT_EQ(count(text, ".extern .func (.param .b32 r) vprintf"), 1u);
}

TEST(Linker, TheFunctionsOfTheDeviceRuntimeAreAdded) {
  const std::string text = linked(
      {".extern .func (.param .b32 r) "
       "cudaCGSynchronize(.param .b64 h, .param .b32 f);\n"
       ".visible .entry k() { call (r), cudaCGSynchronize, (h, f); ret; }"});
  EXPECT_EQ(count(text, ".weak .func (.param .b32 result) cudaCGS"), 4u);
  EXPECT_EQ(count(text, ".extern"), 0u);
}

TEST(Linker, AnInputThatIsRefusedLeavesNothingBehind) {
  Linker linker;
  linker.add("a", kHead + ".visible .func f() { ret; }");
  EXPECT_THROW(
      linker.add(
          "b",
          kHead + ".visible .func g() { ret; }\n.visible .func f() { ret; }"),
      LinkError);
  linker.add("c", kHead + ".visible .func g() { ret; }");
  EXPECT_EQ(count(linker.link(), ".visible .func g();"), 1u);
}

TEST(Linker, WhatStaysUndefinedIsDeclared) {
  Linker linker(Linker::Undefined::kLeft);
  const std::string text =
      kHead + ".extern .func f();\n.extern .global .u32 x;\n";
  linker.add("a", text + ".visible .func g() { call f; }");
  linker.add("b", text + ".visible .func h() { call f; }");
  const std::string result = linker.link();
  EXPECT_EQ(count(result, ".extern .func f();"), 1u);
  EXPECT_EQ(count(result, ".extern .global .u32 x;"), 1u);
}

TEST(Linker, AnInputByItselfHasAPlaceForVariablesOfOthers) {
  const std::string text = kHead +
      ".visible .func f();\n.extern .func g();\n"
      ".extern  .global .u32 x, y;\n.extern .shared .b8 s[];";
  const std::string result = Linker::by_itself("a", text);
  EXPECT_EQ(result.size(), text.size());
  EXPECT_EQ(result.find(".global"), text.find(".global"));
  EXPECT_EQ(count(result, ".extern"), 2u);
}

TEST(Linker, AnyTextIsLinkedOrRefused) {
  const std::string good = kHead +
      ".file 1 \"x\"\n.section .s { x: .b8 1 }\n.pragma \"p\";\n@@D x\n"
      ".extern .func (.param .b32 r) f(.param .align 8 .b8 a[8]);\n"
      ".visible .global .attribute(.managed) .v2 .f16x2 x[2][0x3] = {1, 2};\n"
      ".visible .entry k(.param .u64 .ptr .global .align 8 p)\n"
      ".maxntid 1, 1, 1\n{ .loc 1 2 3, function_name l\n { add.u32 a, b; } }\n"
      "/* comment */ .alias k, f;\n";
  const std::string other = kHead +
      ".visible .func g() { ret; }\n"
      ".visible .func (.param .b32 r) f(.param .align 8 .b8 a[8]) { ret; }";
  const auto link = [&](const std::string& text) {
    Linker linker;
    linker.add("a", text);
    linker.add("b", other);
    return linker.link();
  };
  EXPECT_EQ(count(link(good), ".entry k("), 1u);
  for (std::size_t size = 0; size <= good.size(); ++size) {
    for (const std::string& text :
         {good.substr(0, size),
          good.substr(0, size) + "}" + good.substr(size),
          good.substr(0, size) + good.substr(std::min(size + 3, good.size())),
          good.substr(0, size) + "\"" + good.substr(size)}) {
      try {
        link(text);
      } catch (const SyntaxError&) {
        // Refused: what is left is no PTX.
      } catch (const LinkError&) {
        // Refused: what is left does not fit together.
      }
    }
  }
}

} // namespace
} // namespace accelerator::linker
