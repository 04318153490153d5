// PTX text: what it is read as, and what is said of text that is no PTX.
#include "cudasim/ptx/parser.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace cudasim::ptx {
namespace {

const std::string kHeader = ".version 8.4\n.target sm_80\n.address_size 64\n";

std::unique_ptr<Module> module_of(const std::string& definitions) {
  return parse_module(kHeader + definitions, "test.ptx");
}

// A module whose only function has this body, which is read too.
struct Kernel {
  explicit Kernel(const std::string& text)
      : module(module_of(".entry k()\n{\n" + text + "\n}\n")) {
    parse_body(*module, *module->functions.at(0));
  }
  const std::vector<Statement>& body() const {
    return module->functions[0]->body;
  }
  const Instruction& instruction(std::size_t index = 0) const {
    for (const Statement& statement : body()) {
      if (statement.instruction != nullptr && index-- == 0) {
        return *statement.instruction;
      }
    }
    throw std::out_of_range("no such instruction");
  }
  std::unique_ptr<Module> module;
};

Operand operand(const std::string& text) {
  return Kernel("mov.b32 " + text + ";").instruction().operands.at(0);
}

double as_double(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::string error_of(const std::string& text) {
  try {
    std::unique_ptr<Module> module = parse_module(text, "bad.ptx");
    for (const auto& function : module->functions) {
      parse_body(*module, *function);
    }
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Header, SaysVersionTargetAndAddressSize) {
  auto module = parse_module(
      "//\n// Generated\n.version 7.10\n.target sm_90a, debug\n"
      ".address_size 64\n",
      "test.ptx");
  EXPECT_EQ(module->version_major, 7u);
  EXPECT_EQ(module->version_minor, 10u);
  EXPECT_EQ(module->target, "sm_90a");
  EXPECT_EQ(module->address_size, 64u);
}

TEST(Header, MayEndWithTheNulOfTheFatBinary) {
  EXPECT_EQ(
      parse_module(kHeader + std::string(1, '\0'), "test.ptx")->target,
      "sm_80");
}

TEST(ModuleDirectives, FilesAndDebugSectionsAreRead) {
  auto module = module_of(
      ".file 1 \"a.cu\"\n.file 3 \"b.cu\", 1700000000, 12\n"
      ".section .debug_info { .b32 1 \n .b8 2 }\n"
      "@@DWARF .byte 1, 2\n.pragma \"nounroll\";\n.global .u32 after;\n");
  ASSERT_EQ(module->files.size(), 4u);
  EXPECT_EQ(module->files[1], "a.cu");
  EXPECT_EQ(module->files[3], "b.cu");
  ASSERT_EQ(module->variables.size(), 1u);
}

TEST(ModuleDirectives, AnAliasIsOneMoreNameForABody) {
  auto module =
      module_of(".func f() { ret; }\n.func g();\n.alias g, f;\n.func h();\n");
  Function* alias = module->functions.at(2).get();
  EXPECT_EQ(alias->name, "g");
  parse_body(*module, *alias);
  EXPECT_EQ(alias->body.at(0).instruction->opcode, "ret");
}

struct VariableCase {
  std::string text;
  Space space;
  Type type;
  std::uint32_t vector;
  std::uint32_t alignment;
  std::vector<std::uint64_t> dimensions;
  std::uint64_t size;
  std::vector<std::uint64_t> values;
};

class Variables : public testing::TestWithParam<VariableCase> {};

TEST_P(Variables, AreDeclared) {
  const VariableCase& expected = GetParam();
  auto module = module_of(expected.text);
  ASSERT_EQ(module->variables.size(), 1u);
  const Variable& variable = module->variables[0];
  EXPECT_EQ(variable.name, "v");
  EXPECT_EQ(variable.space, expected.space);
  EXPECT_EQ(variable.type, expected.type);
  EXPECT_EQ(variable.vector, expected.vector);
  EXPECT_EQ(variable.alignment, expected.alignment);
  EXPECT_EQ(variable.dimensions, expected.dimensions);
  EXPECT_EQ(variable.size(), expected.size);
  std::vector<std::uint64_t> values;
  for (const Operand& value : variable.initializer) {
    values.push_back(value.bits);
  }
  EXPECT_EQ(values, expected.values);
}

INSTANTIATE_TEST_SUITE_P(
    Forms,
    Variables,
    testing::Values(
        VariableCase{
            ".global .u32 v;",
            Space::kGlobal,
            Type::kU32,
            1,
            0,
            {},
            4,
            {}},
        VariableCase{
            ".const .align 16 .v4 .f32 v;",
            Space::kConst,
            Type::kF32,
            4,
            16,
            {},
            16,
            {}},
        VariableCase{
            ".extern .shared .align 8 .b8 v[];",
            Space::kShared,
            Type::kB8,
            1,
            8,
            {0},
            0,
            {}},
        VariableCase{
            ".global .b8 v[] = {1, 0x2, 03, 0b100};",
            Space::kGlobal,
            Type::kB8,
            1,
            0,
            {4},
            4,
            {1, 2, 3, 4}},
        VariableCase{
            ".global .s32 v[2][3] = {{1, -1}, {WARP_SZ}};",
            Space::kGlobal,
            Type::kS32,
            1,
            0,
            {2, 3},
            24,
            {1, ~std::uint64_t{0}, 0, 32, 0, 0}},
        VariableCase{
            ".global .v2 .u16 v[] = {{1, 2}, {3, 4}};",
            Space::kGlobal,
            Type::kU16,
            2,
            0,
            {2},
            8,
            {1, 2, 3, 4}},
        VariableCase{
            ".global .b64 v[WARP_SZ] = {(1 << 4) | 3, 7 > 3 ? 10 / 3 : 0};",
            Space::kGlobal,
            Type::kB64,
            1,
            0,
            {32},
            256,
            {19, 3}}));

TEST(Variables, LinkageAndAttributesAreKept) {
  auto module = module_of(
      ".visible .global .attribute(.managed) .u32 a;\n"
      ".weak .const .u32 b;\n.extern .global .u32 c, d[4];\n");
  ASSERT_EQ(module->variables.size(), 4u);
  EXPECT_TRUE(module->variables[0].is_visible);
  EXPECT_TRUE(module->variables[0].is_managed);
  EXPECT_TRUE(module->variables[1].is_weak);
  EXPECT_TRUE(module->variables[2].is_extern);
  EXPECT_TRUE(module->variables[3].is_extern);
  EXPECT_EQ(module->variables[3].size(), 16u);
}

TEST(Variables, MayBeginWithAddresses) {
  auto module = module_of(
      ".global .u64 p[4] = {f, x + 8, generic(x), generic(x)+16};\n"
      ".global .b8 q[2] = {0xFF(generic(x)), 0xFF00(x)};\n");
  const std::vector<Operand>& plain = module->variables[0].initializer;
  EXPECT_EQ(plain[0].name, "f");
  EXPECT_EQ(plain[1].offset, 8);
  EXPECT_EQ(plain[2].name, "x");
  EXPECT_EQ(plain[3].offset, 16);
  EXPECT_EQ(plain[3].bits, 0u);
  const std::vector<Operand>& masked = module->variables[1].initializer;
  EXPECT_EQ(masked[0].kind, Operand::Kind::kSymbol);
  EXPECT_EQ(masked[0].bits, 0xFFu);
  EXPECT_EQ(masked[1].name, "x");
  EXPECT_EQ(masked[1].bits, 0xFF00u);
}

TEST(Functions, HaveParametersResultsAndBounds) {
  auto module = module_of(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a,\n"
      "  .param .align 8 .b8 b[24])\n"
      ".maxntid 128, 2\n.minnctapersm 4\n.maxnreg 64\n"
      ".reqnctapercluster 2, 1, 1\n{ ret; }\n"
      ".weak .func (.param .b32 r) f(.reg .f32 x) .noreturn;\n");
  const Function& kernel = *module->functions.at(0);
  EXPECT_TRUE(kernel.is_entry);
  EXPECT_TRUE(kernel.is_visible);
  EXPECT_TRUE(kernel.has_body);
  ASSERT_EQ(kernel.parameters.size(), 2u);
  EXPECT_EQ(kernel.parameters[0].type, Type::kU64);
  EXPECT_EQ(kernel.parameters[1].size(), 24u);
  EXPECT_EQ(kernel.parameters[1].alignment, 8u);
  EXPECT_EQ(kernel.bounds.max_threads[0], 128u);
  EXPECT_EQ(kernel.bounds.max_threads[1], 2u);
  EXPECT_EQ(kernel.bounds.max_threads[2], 1u);
  EXPECT_EQ(kernel.bounds.min_blocks, 4u);
  EXPECT_EQ(kernel.bounds.max_registers, 64u);
  EXPECT_EQ(kernel.bounds.required_cluster[0], 2u);
  const Function& function = *module->functions.at(1);
  EXPECT_FALSE(function.is_entry);
  EXPECT_FALSE(function.has_body);
  EXPECT_TRUE(function.is_weak);
  EXPECT_TRUE(function.is_noreturn);
  EXPECT_EQ(function.results.at(0).name, "r");
  EXPECT_EQ(function.parameters.at(0).in_register, "x");
  EXPECT_EQ(function.parameters.at(0).space, Space::kParam);
}

TEST(Functions, ADefinitionIsFoundBeforeItsDeclaration) {
  auto module = module_of(".func f();\n.func f() { ret; }\n");
  ASSERT_NE(module->find("f"), nullptr);
  EXPECT_TRUE(module->find("f")->has_body);
  EXPECT_EQ(module->find("g"), nullptr);
}

TEST(Functions, BracesInCommentsAndStringsDoNotEndABody) {
  auto module = module_of(
      ".entry a() { // }\n { /* } \n \" } */ ret; } .pragma \"}//\"; exit; }\n"
      ".entry b() { /*/ } */ ret; }\n");
  ASSERT_EQ(module->functions.size(), 2u);
  parse_body(*module, *module->functions[0]);
  EXPECT_EQ(module->functions[0]->body.size(), 4u);
  EXPECT_EQ(module->functions[1]->location.line, 7u);
  parse_body(*module, *module->functions[1]);
  EXPECT_EQ(module->functions[1]->body.at(0).location.column, 23u);
}

TEST(Bodies, HaveScopesLabelsRegistersAndVariables) {
  Kernel kernel(
      ".reg .pred p, %q<3>;\n.reg .v2 .f32 %v;\n{\n.shared .align 4 .b8 s[8];\n"
      "}\nL:\n.loc 1 2 3, function_name $info+4, inlined_at 1 5 6\nret;");
  std::vector<Statement::Kind> kinds;
  for (const Statement& statement : kernel.body()) {
    kinds.push_back(statement.kind);
  }
  using Kind = Statement::Kind;
  EXPECT_EQ(
      kinds,
      (std::vector<Kind>{
          Kind::kRegisters,
          Kind::kRegisters,
          Kind::kRegisters,
          Kind::kScopeBegin,
          Kind::kVariable,
          Kind::kScopeEnd,
          Kind::kLabel,
          Kind::kInstruction}));
  EXPECT_EQ(kernel.body()[0].registers->count, 0u);
  EXPECT_EQ(kernel.body()[1].registers->name, "%q");
  EXPECT_EQ(kernel.body()[1].registers->count, 3u);
  EXPECT_EQ(kernel.body()[2].registers->vector, 2u);
  EXPECT_EQ(kernel.body()[4].variable->space, Space::kShared);
  EXPECT_EQ(kernel.body()[6].label, "L");
}

TEST(Bodies, AreReadOnce) {
  Kernel kernel("ret;");
  parse_body(*kernel.module, *kernel.module->functions[0]);
  EXPECT_EQ(kernel.body().size(), 1u);
}

TEST(Instructions, HaveModifiersInOrderAndGuards) {
  Kernel kernel(
      "@!%p1 ld.global.L1::no_allocate.L2::128B.v2.f32 {%f1, %f2}, [%rd1];\n"
      "@q mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 %r1;");
  const Instruction& load = kernel.instruction();
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_EQ(
      load.modifiers,
      (std::vector<std::string>{
          "global", "L1::no_allocate", "L2::128B", "v2", "f32"}));
  EXPECT_EQ(load.guard.predicate, "%p1");
  EXPECT_TRUE(load.guard.negated);
  EXPECT_EQ(load.location.line, 6u);
  EXPECT_EQ(load.location.column, 7u);
  EXPECT_EQ(kernel.instruction(1).guard.predicate, "q");
  EXPECT_FALSE(kernel.instruction(1).guard.negated);
  EXPECT_EQ(kernel.instruction(1).modifiers[2], "m16n8k8");
}

TEST(Operands, OfNamesAreRegistersSpecialRegistersOrSymbols) {
  using Kind = Operand::Kind;
  EXPECT_EQ(operand("%r1").kind, Kind::kRegister);
  EXPECT_EQ(operand("%7").kind, Kind::kRegister);
  EXPECT_EQ(operand("%7").name, "%7");
  EXPECT_EQ(operand("_").kind, Kind::kSink);
  EXPECT_EQ(operand("%tid.x").kind, Kind::kSpecialRegister);
  EXPECT_EQ(operand("%tid.x").name, "%tid");
  EXPECT_EQ(operand("%tid.x").component, 'x');
  EXPECT_EQ(operand("%clock64").kind, Kind::kSpecialRegister);
  EXPECT_EQ(operand("%envreg31").kind, Kind::kSpecialRegister);
  EXPECT_EQ(operand("%envreg32").kind, Kind::kRegister);
  EXPECT_EQ(operand("table+12").kind, Kind::kSymbol);
  EXPECT_EQ(operand("table+12").offset, 12);
  EXPECT_EQ(operand("%r1.b3").component, '3');
  EXPECT_EQ(operand("%r1.h1").component, 'h');
  EXPECT_TRUE(operand("!%p1").negated);
  EXPECT_TRUE(operand("-%r1.b0").negated);
}

TEST(Operands, OfNumbersKeepTheirBits) {
  EXPECT_EQ(operand("-1").bits, ~std::uint64_t{0});
  EXPECT_EQ(operand("0xFFFFFFFFFFFFFFFF").bits, ~std::uint64_t{0});
  EXPECT_EQ(operand("4294967295U").bits, 0xFFFFFFFFu);
  EXPECT_EQ(operand("017").bits, 15u);
  EXPECT_EQ(operand("0").bits, 0u);
  EXPECT_EQ(operand("0f3F800000").bits, 0x3F800000u);
  EXPECT_TRUE(operand("0f3F800000").single);
  EXPECT_EQ(operand("(0f3F800000)").bits, 0x3F800000u);
  EXPECT_EQ(operand("0d3FF0000000000000").bits, 0x3FF0000000000000u);
  EXPECT_FALSE(operand("0d3FF0000000000000").single);
  EXPECT_EQ(as_double(operand("1.5e-3").bits), 1.5e-3);
  EXPECT_EQ(as_double(operand(".5").bits), 0.5);
  EXPECT_EQ(as_double(operand("-2.").bits), -2.0);
}

struct ExpressionCase {
  std::string text;
  std::int64_t value;
};

class Expressions : public testing::TestWithParam<ExpressionCase> {};

TEST_P(Expressions, AreWorthWhatPtxasSays) {
  Operand result = operand(GetParam().text);
  EXPECT_EQ(result.kind, Operand::Kind::kInteger);
  EXPECT_EQ(static_cast<std::int64_t>(result.bits), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Operators,
    Expressions,
    testing::Values(
        ExpressionCase{"1 + 2 * 3", 7},
        ExpressionCase{"(1 + 2) * 3", 9},
        ExpressionCase{"10 - 4 - 3", 3},
        ExpressionCase{"-7 / 2", -3},
        ExpressionCase{"-7 % 4", 1},
        ExpressionCase{"-7%(4)", 1},
        ExpressionCase{"(5 % 3 - 5) / 2", 0x7FFFFFFFFFFFFFFE},
        ExpressionCase{"(1 << 63) / -1", INT64_MIN},
        ExpressionCase{"-8 >> 1", -4},
        ExpressionCase{"(.u64)-8 >> 60", 15},
        ExpressionCase{"1 << 65", 2},
        ExpressionCase{"-8 >> 65", -4},
        ExpressionCase{"~0 >> 60", 15},
        ExpressionCase{"(1 ? -5 : 3U) / 2", -2},
        ExpressionCase{"(5 & -1) > -1", 1},
        ExpressionCase{"~5 & 7 | 8 ^ 1", 11},
        ExpressionCase{"!0 + !3", 1},
        ExpressionCase{"-1 < 1", 1},
        ExpressionCase{"-1 < 1U", 0},
        ExpressionCase{"2 >= 2 && 1 != 1 || 0 == 0", 1},
        ExpressionCase{"1.5 > 1.0", 1},
        ExpressionCase{"0 ? 1 : 0 ? 2 : 3", 3},
        ExpressionCase{"WARP_SZ - 1", 31}));

TEST(Operands, OfAddressesHaveABaseAndAnOffset) {
  Operand with_register = operand("[%rd1+-16]");
  EXPECT_EQ(with_register.kind, Operand::Kind::kAddress);
  EXPECT_EQ(with_register.elements.at(0).kind, Operand::Kind::kRegister);
  EXPECT_EQ(with_register.offset, -16);
  EXPECT_EQ(operand("[param_0+2*4]").offset, 8);
  EXPECT_EQ(operand("[param_0]").elements.at(0).name, "param_0");
  EXPECT_EQ(operand("[1024]").elements.at(0).bits, 1024u);
  Operand texture = operand("[tex, {%f1, %f2}]");
  EXPECT_EQ(texture.elements.at(1).kind, Operand::Kind::kVector);
}

TEST(Operands, OfVectorsAndPairsHaveElements) {
  Operand vector = operand("{%r1, _, 3, %r4}");
  EXPECT_EQ(vector.kind, Operand::Kind::kVector);
  ASSERT_EQ(vector.elements.size(), 4u);
  EXPECT_EQ(vector.elements[1].kind, Operand::Kind::kSink);
  Operand both = operand("{%f1, %f2}|%p1");
  ASSERT_EQ(both.kind, Operand::Kind::kPair);
  EXPECT_EQ(both.elements[0].kind, Operand::Kind::kVector);
  EXPECT_EQ(both.elements[1].name, "%p1");
  Operand pair = operand("%r1|%p2");
  EXPECT_EQ(pair.kind, Operand::Kind::kPair);
  EXPECT_EQ(pair.elements.at(1).name, "%p2");
  EXPECT_EQ(operand("_|%p2").elements.at(0).kind, Operand::Kind::kSink);
}

TEST(Calls, ComeInAllForms) {
  Kernel kernel(
      "call f;\ncall.uni (r0), g, (a, b);\ncall (r0), %rd1, (a), proto;\n"
      "call %rd1, proto;\ncall h, ();");
  EXPECT_EQ(kernel.instruction(0).call->target.name, "f");
  EXPECT_EQ(kernel.instruction(1).modifiers.at(0), "uni");
  EXPECT_EQ(kernel.instruction(1).call->results.at(0).name, "r0");
  EXPECT_EQ(kernel.instruction(1).call->arguments.size(), 2u);
  EXPECT_TRUE(kernel.instruction(1).operands.empty());
  EXPECT_EQ(kernel.instruction(2).call->target.kind, Operand::Kind::kRegister);
  EXPECT_EQ(kernel.instruction(2).call->prototype, "proto");
  EXPECT_EQ(kernel.instruction(3).call->prototype, "proto");
  EXPECT_TRUE(kernel.instruction(4).call->arguments.empty());
}

TEST(Calls, PrototypesAndTargetsAreLabels) {
  Kernel kernel(
      "t: .branchtargets L1, L2;\nc: .calltargets f, g;\n"
      "p: .callprototype (.param .b32 _) _ (.param .align 4 .b8 _[8]);\n"
      "q: .callprototype _ ();");
  EXPECT_EQ(kernel.body()[0].kind, Statement::Kind::kBranchTargets);
  EXPECT_EQ(kernel.body()[0].targets, (std::vector<std::string>{"L1", "L2"}));
  EXPECT_EQ(kernel.body()[1].kind, Statement::Kind::kCallTargets);
  EXPECT_EQ(kernel.body()[2].label, "p");
  EXPECT_EQ(kernel.body()[2].results.at(0).type, Type::kB32);
  EXPECT_EQ(kernel.body()[2].parameters.at(0).size(), 8u);
  EXPECT_TRUE(kernel.body()[3].results.empty());
}

TEST(Types, HaveNamesAndSizes) {
  EXPECT_EQ(type_named("bf16x2"), Type::kBF16x2);
  EXPECT_EQ(name_of(Type::kE5M2x2), "e5m2x2");
  EXPECT_EQ(type_named("s128"), Type::kNone);
  EXPECT_EQ(size_of(Type::kB128), 16u);
  EXPECT_EQ(size_of(Type::kPred), 0u);
}

struct ErrorCase {
  std::string text; // after the header, so it begins in line 4
  std::string message;
};

class Errors : public testing::TestWithParam<ErrorCase> {};

TEST_P(Errors, SayPlaceTokenAndWhatIsNeeded) {
  EXPECT_EQ(
      error_of(kHeader + GetParam().text), "bad.ptx:" + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    Errors,
    testing::Values(
        ErrorCase{".global .b7 x;", "4:9: found '.b7', expected a type"},
        ErrorCase{
            ".global .u32 x",
            "4:15: found the end of the text, expected ';'"},
        ErrorCase{
            ".align 4;",
            "4:1: found '.align', expected a directive of a module, a "
            "variable or a function"},
        ErrorCase{
            ".global .align 3 .u32 x;",
            "4:16: found '3', expected an alignment that is a power of two"},
        ErrorCase{
            ".entry k() {\n  ret;",
            "4:12: found '{', expected a '}' that "
            "closes it"},
        ErrorCase{
            ".entry k() {\n  mov.b32 %r1, ;\n}",
            "5:16: found ';', expected an operand"},
        ErrorCase{
            ".entry k() {\n  ret\n}",
            "6:1: found '}', expected an operand"},
        ErrorCase{
            ".entry k() { mov.b32 %r1, %r2 }",
            "4:31: found '}', expected ',' or ';'"},
        ErrorCase{
            ".entry k() {\n\tld.u32 %r1, [%r2;\n}",
            "5:18: found ';', expected ']'"},
        ErrorCase{
            ".entry k() { mov.f32 %f1, 0f3F80; }",
            "4:27: found '0f3F80', expected 8 hexadecimal digits after '0f'"},
        ErrorCase{
            ".entry k() { mov.u64 %r1, 99999999999999999999; }",
            "4:27: found '99999999999999999999', expected an integer of at "
            "most 64 bits"},
        ErrorCase{
            ".entry k() { mov.u64 %r1, 1/0; }",
            "4:28: found '/', expected a divisor other than zero"},
        ErrorCase{".global .u64 x = 5%7;", "4:19: found '%7', expected ';'"},
        ErrorCase{
            ".global .u8 x[1] = {1, 2};",
            "4:20: found '{', expected at most 1 initial values"},
        ErrorCase{
            ".global .u8 x[99999999][99999999];",
            "4:13: found 'x', expected a variable of at most 2^46 bytes"},
        ErrorCase{
            "/* open",
            "4:1: found '/*', expected a comment that ends "
            "with '*/'"},
        ErrorCase{"\x01", "4:1: found '\\x01', expected PTX"},
        ErrorCase{
            ".pragma \"open\n;",
            "4:9: found '\"', expected a string that ends with '\"' on its "
            "line"}));

TEST(Errors, OfTheHeaderNameWhatIsMissing) {
  EXPECT_EQ(
      error_of(""),
      "bad.ptx:1:1: found the end of the text, expected '.version'");
  EXPECT_EQ(
      error_of(".version 8\n"),
      "bad.ptx:1:10: found '8', expected a version such as 8.4");
  EXPECT_EQ(
      error_of(".version 8.4\n.target sm_80\n.address_size 32\n"),
      "bad.ptx:3:15: found '32', expected 64: only 64-bit addresses are "
      "supported");
}

TEST(Errors, NestingIsLimitedNotTheStack) {
  std::string deep(100000, '(');
  EXPECT_NE(
      error_of(kHeader + ".global .u32 x = " + deep).find("less nesting"),
      std::string::npos);
}

} // namespace
} // namespace cudasim::ptx
