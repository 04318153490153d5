// The linker: symbols across inputs, and what it refuses, as NVIDIA's does
// (//runtime/code/nvjitlink:nvjitlink_test).
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/driver/testing/context.h"
#include "runtime/api/driver/testing/kernel_file.h"
#include "runtime/code/fatbin/testing/fat_binary.h"

namespace accelerator::driver::testing {
namespace {

using fatbin::testing::fat_binary;

const std::string kHead = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// A module whose kernel "store" stores what the function "value" gives.
const std::string kStoresValue = kHead + R"(
.extern .func (.param .b32 result) value(.param .b32 argument);
.visible .entry store(.param .u64 place, .param .u32 argument)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [place];
  ld.param.u32 %r1, [argument];
  {
  .param .b32 in;
  .param .b32 out;
  st.param.b32 [in], %r1;
  call.uni (out), value, (in);
  ld.param.b32 %r2, [out];
  }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

/// A module with a function that adds a number.
/// @param linkage of it, @param before what stands before it.
std::string value_function(
    const std::string& linkage,
    const std::string& addend,
    const std::string& before = "",
    const std::string& name = "value") {
  return kHead + before + "\n" + linkage + " .func (.param .b32 result) " +
      name + R"((.param .b32 argument)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [argument];
)" + addend +
      R"(
  add.u32 %r1, %r1, %r2;
  st.param.b32 [result], %r1;
  ret;
}
)";
}

std::string adding(int number, const std::string& linkage = ".visible") {
  return value_function(
      linkage, "mov.u32 %r2, " + std::to_string(number) + ";");
}

/// A linker that ends with the test.
class Linker : public ContextTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuLinkCreate(2, options, values, &state), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
    EXPECT_EQ(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
  }
  CUresult add(
      const std::string& data,
      CUjitInputType type = CU_JIT_INPUT_PTX,
      const char* name = "x") {
    std::string copy = data;
    const std::size_t size = copy.size() + (type == CU_JIT_INPUT_PTX ? 1 : 0);
    return cuLinkAddData(
        state, type, copy.data(), size, name, 0, nullptr, nullptr);
  }
  CUresult complete() {
    void* image = nullptr;
    std::size_t size = 0;
    return cuLinkComplete(state, &image, &size);
  }
  /// What a kernel of the linked module stores.
  unsigned result(unsigned argument, const char* kernel = "store") {
    void* image = nullptr;
    std::size_t size = 0;
    CUmodule module = nullptr;
    CUfunction store = nullptr;
    EXPECT_EQ(cuLinkComplete(state, &image, &size), CUDA_SUCCESS) << log;
    EXPECT_GT(size, 0u);
    EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&store, module, kernel), CUDA_SUCCESS);
    const unsigned stored = stored_by(store, argument);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    return stored;
  }

  char log[600] = "";
  CUjit_option options[2] = {
      CU_JIT_ERROR_LOG_BUFFER,
      CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[2] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUlinkState state = nullptr;
};

TEST_F(Linker, TextIsMadeIntoAModule) {
  ASSERT_EQ(add(kKernels), CUDA_SUCCESS);
  EXPECT_EQ(result(7), 7u);
}

TEST_F(Linker, AFileIsMadeIntoAModule) {
  const KernelFile file;
  ASSERT_EQ(
      cuLinkAddFile(state, CU_JIT_INPUT_PTX, file.path(), 0, nullptr, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(result(7), 7u);
  EXPECT_EQ(
      cuLinkAddFile(
          state, CU_JIT_INPUT_PTX, "/no/such.ptx", 0, nullptr, nullptr),
      CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(Linker, BadInputIsRefusedWithAMessage) {
  EXPECT_EQ(
      add(".version 7.0\n.target sm_80\nnonsense\n"), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("'nonsense'"), std::string::npos) << log;
  EXPECT_EQ(
      add(kHead + ".visible .func f() { add.s32 1; }"), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("'add.s32'"), std::string::npos) << log;
  EXPECT_EQ(add("\177ELF", CU_JIT_INPUT_CUBIN), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(
      add("\xed"
          "CN\x7f",
          CU_JIT_INPUT_NVVM),
      CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(std::string(log).find("nvJitLink"), std::string::npos) << log;
  CUmodule module = nullptr;
  EXPECT_EQ(
      cuModuleLoadData(
          &module,
          "\xed"
          "CN\x7f"),
      CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(
      add("nothing known", CU_JIT_INPUT_CUBIN), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::string(log).find("no PTX"), std::string::npos) << log;
  EXPECT_EQ(add(kKernels, CU_JIT_NUM_INPUT_TYPES), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Linker, AFunctionIsCalledInAnotherInput) {
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  ASSERT_EQ(add(adding(5)), CUDA_SUCCESS);
  EXPECT_EQ(result(37), 42u);
}

TEST_F(Linker, TheOrderOfInputsDoesNotMatter) {
  ASSERT_EQ(add(adding(5)), CUDA_SUCCESS);
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  EXPECT_EQ(result(37), 42u);
}

TEST_F(Linker, AVariableIsReadInAnotherInput) {
  const std::string pointer =
      ".extern .global .align 4 .b32 number;\n"
      ".global .align 8 .u64 place = number;\n";
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  ASSERT_EQ(
      add(value_function(
          ".visible",
          ".reg .b64 %rd1; ld.global.u64 %rd1, [place];\n"
          "ld.global.u32 %r2, [%rd1];",
          pointer)),
      CUDA_SUCCESS);
  ASSERT_EQ(
      add(kHead + ".visible .global .align 4 .b32 number = 100;"),
      CUDA_SUCCESS);
  EXPECT_EQ(result(1), 101u);
}

/// %r1 = function(%r1)
std::string call(const std::string& function) {
  return "{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1;\n"
         "call.uni (out), " +
      function + ", (in); ld.param.b32 %r1, [out]; }\n";
}

TEST_F(Linker, StaticNamesOfTwoInputsStayApart) {
  // A function with the name of an instruction, and a variable.
  const auto statics = [](int number) {
    return ".global .align 4 .b32 number = " + std::to_string(number) +
        ";\n.func (.param .b32 r) add(.param .b32 a)\n"
        "{ .reg .b32 %x<3>; ld.param.u32 %x1, [a]; add.u32 %x1, %x1, " +
        std::to_string(number * 1000) + "; st.param.b32 [r], %x1; ret; }\n";
  };
  const std::string load = "ld.global.u32 %r2, [number];\n";
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  ASSERT_EQ(
      add(value_function(
          ".visible",
          call("add") + call("outer") + load,
          ".extern .func (.param .b32 r) outer(.param .b32 a);" + statics(1))),
      CUDA_SUCCESS)
      << log;
  ASSERT_EQ(
      add(value_function(".visible", call("add") + load, statics(20), "outer")),
      CUDA_SUCCESS)
      << log;
  EXPECT_EQ(result(300), 21321u);
}

TEST_F(Linker, AStrongFunctionTakesTheWeakOnesPlace) {
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  ASSERT_EQ(add(adding(1, ".weak")), CUDA_SUCCESS);
  ASSERT_EQ(add(adding(2, ".weak")), CUDA_SUCCESS);
  ASSERT_EQ(add(adding(3)), CUDA_SUCCESS);
  EXPECT_EQ(result(0), 3u);
}

TEST_F(Linker, OfWeakFunctionsThereIsTheFirst) {
  ASSERT_EQ(add(adding(1, ".weak")), CUDA_SUCCESS);
  ASSERT_EQ(add(adding(2, ".weak")), CUDA_SUCCESS);
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  EXPECT_EQ(result(0), 1u);
}

TEST_F(Linker, CommonVariablesAreOneOfTheLargestSize) {
  ASSERT_EQ(add(kHead + ".common .global .u32 all[2];"), CUDA_SUCCESS);
  ASSERT_EQ(add(kHead + ".common .global .u32 all[5];"), CUDA_SUCCESS);
  ASSERT_EQ(add(kHead + ".common .global .u32 all[3];"), CUDA_SUCCESS);
  void* image = nullptr;
  CUmodule module = nullptr;
  CUdeviceptr address = 0;
  std::size_t size = 0;
  ASSERT_EQ(cuLinkComplete(state, &image, &size), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetGlobal(&address, &size, module, "all"), CUDA_SUCCESS);
  EXPECT_EQ(size, 20u);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Linker, WhatIsThereTwiceIsRefused) {
  ASSERT_EQ(add(adding(1), CU_JIT_INPUT_PTX, "a"), CUDA_SUCCESS);
  EXPECT_EQ(add(adding(2), CU_JIT_INPUT_PTX, "b"), CUDA_ERROR_INVALID_SOURCE);
  EXPECT_STREQ(
      log,
      "error   : Multiple definition of 'value' in 'b', first defined in "
      "'a'\n");
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), std::strlen(log) + 1);
}

TEST_F(Linker, DeclarationsThatDoNotFitAreRefused) {
  const std::pair<std::string, std::string> inputs[] = {
      {".visible .func value(.param .b32 a) { ret; }",
       "error   : Prototype doesn't match for 'value' in 'b', first defined "
       "in 'b'\n"},
      {".visible .global .u64 number;",
       "error   : Size doesn't match for 'number' in 'b', first specified in "
       "'a'\n"},
      {".visible .const .u32 number;",
       "error   : Memory space doesn't match for 'number' in 'b', first "
       "specified in 'a'\n"}};
  ASSERT_EQ(
      add(kStoresValue + ".extern .global .u32 number;", CU_JIT_INPUT_PTX, "a"),
      CUDA_SUCCESS);
  for (const auto& [text, message] : inputs) {
    EXPECT_EQ(
        add(kHead + text, CU_JIT_INPUT_PTX, "b"), CUDA_ERROR_INVALID_SOURCE);
    EXPECT_EQ(log, message);
  }
}

TEST_F(Linker, WhatNobodyDefinesIsRefused) {
  ASSERT_EQ(
      add(kStoresValue +
              ".extern .global .u32 number;\n"
              ".extern .func nobody_calls_it();\n",
          CU_JIT_INPUT_PTX,
          "a"),
      CUDA_SUCCESS);
  // A static function of that name is another one.
  ASSERT_EQ(add(adding(1, "")), CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_ERROR_UNKNOWN);
  EXPECT_STREQ(
      log,
      "error   : Undefined reference to 'value' in 'a'\n"
      "error   : Undefined reference to 'number' in 'a'\n");
}

/// An archive.
std::string archive(
    const std::vector<std::pair<std::string, std::string>>& members) {
  std::string all = "!<arch>\n";
  for (const auto& [name, content] : members) {
    std::string header(60, ' ');
    header.replace(0, name.size() + 1, name + "/");
    const std::string size = std::to_string(content.size());
    header.replace(48, size.size(), size);
    header.replace(58, 2, "`\n");
    all += header + content + (content.size() % 2 == 0 ? "" : "\n");
  }
  return all;
}

TEST_F(Linker, AFatBinarysPtxIsLinked) {
  ASSERT_EQ(
      add(fat_binary(1, kStoresValue), CU_JIT_INPUT_FATBINARY), CUDA_SUCCESS);
  // What NVRTC gives for machine code is PTX.
  ASSERT_EQ(add(adding(4), CU_JIT_INPUT_CUBIN), CUDA_SUCCESS);
  EXPECT_EQ(
      add(fat_binary(2, "code"), CU_JIT_INPUT_FATBINARY),
      CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(result(3), 7u);
}

TEST_F(Linker, OfALibraryThereIsWhatIsMissing) {
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  ASSERT_EQ(
      add(archive(
              {{"code.o", fat_binary(2, "code")},
               {"other.o", fat_binary(1, kHead + ".visible .func other(){}")},
               {"value.o", fat_binary(1, adding(6))},
               {"again.o", fat_binary(1, adding(7))}}),
          CU_JIT_INPUT_LIBRARY),
      CUDA_SUCCESS);
  EXPECT_EQ(result(1), 7u);
}

TEST_F(Linker, ALibraryOfMachineCodeIsNamedWhereItIsMissed) {
  ASSERT_EQ(
      add(archive({{"code.o", fat_binary(2, "code")}}),
          CU_JIT_INPUT_LIBRARY,
          "libcode.a"),
      CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(add(kStoresValue), CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_ERROR_UNKNOWN);
  EXPECT_NE(std::string(log).find("libcode.a: no PTX"), std::string::npos)
      << log;
  EXPECT_EQ(
      add("!<arch>\ncut off", CU_JIT_INPUT_LIBRARY), CUDA_ERROR_INVALID_IMAGE);
}

} // namespace
} // namespace accelerator::driver::testing
