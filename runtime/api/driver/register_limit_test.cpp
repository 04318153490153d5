// CU_JIT_MAX_REGISTERS, and what kernels tell of registers and constants.
#include <cstdint>
#include <string>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

constexpr int kMost = 8; // fewer than any kernel has by itself

/// `plain` reads constants of 3 and, behind a gap, 8 bytes; `bounded` says for
/// how many threads it is.
constexpr char kModule[] = R"(
.version 7.0
.target sm_80
.address_size 64
.const .align 1 .b8 few[3] = {1, 2, 3};
.const .align 8 .b64 one = 1;
.const .align 8 .b8 unread[400];
.func (.param .b64 result) last()
{
  .reg .b64 %rd<2>;
  ld.const.u64 %rd1, [one];
  st.param.b64 [result], %rd1;
  ret;
}
.visible .entry plain(.param .u64 place)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.const.u8 %r1, [few+1];
  {
  .param .b64 out;
  call.uni (out), last;
  ld.param.b64 %rd1, [out];
  }
  ret;
}
.visible .entry bounded(.param .u64 place) .maxntid 64, 1, 1
{
  ret;
}
)";

class RegisterLimit : public ContextTest {
 protected:
  static int attribute(
      CUmodule module,
      const char* kernel,
      CUfunction_attribute which) {
    CUfunction function = nullptr;
    int value = -1;
    EXPECT_EQ(cuModuleGetFunction(&function, module, kernel), CUDA_SUCCESS);
    EXPECT_EQ(cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS);
    return value;
  }
  static int registers(CUmodule module, const char* kernel) {
    return attribute(module, kernel, CU_FUNC_ATTRIBUTE_NUM_REGS);
  }
  /// Links the module.
  /// @param most registers by the link, @param input by its input; 0: unsaid.
  /// @returns what `plain` takes.
  static int linked(std::uintptr_t most, std::uintptr_t input) {
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void* values[] = {
        reinterpret_cast<void*>(most), reinterpret_cast<void*>(input)};
    CUlinkState state = nullptr;
    void* image = nullptr;
    std::size_t size = 0;
    CUmodule module = nullptr;
    EXPECT_EQ(
        cuLinkCreate(most != 0, &option, &values[0], &state), CUDA_SUCCESS);
    EXPECT_EQ(
        cuLinkAddData(
            state,
            CU_JIT_INPUT_PTX,
            const_cast<char*>(kModule),
            sizeof(kModule),
            "x",
            input != 0,
            &option,
            &values[1]),
        CUDA_SUCCESS);
    EXPECT_EQ(cuLinkComplete(state, &image, &size), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    const int found = registers(module, "plain");
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
    return found;
  }
};

TEST_F(RegisterLimit, OfAModuleHoldsForKernelsThatSayNothing) {
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* value = reinterpret_cast<void*>(std::uintptr_t{kMost});
  CUmodule free = nullptr;
  CUmodule limited = nullptr;
  ASSERT_EQ(cuModuleLoadData(&free, kModule), CUDA_SUCCESS);
  ASSERT_EQ(
      cuModuleLoadDataEx(&limited, kModule, 1, &option, &value), CUDA_SUCCESS);
  EXPECT_GT(registers(free, "plain"), kMost);
  EXPECT_EQ(registers(limited, "plain"), kMost);
  EXPECT_EQ(registers(limited, "bounded"), registers(free, "bounded"));
  EXPECT_EQ(cuModuleUnload(free), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(limited), CUDA_SUCCESS);
}

TEST_F(RegisterLimit, OfALinkHoldsUnlessAnInputHasItsOwn) {
  EXPECT_GT(linked(0, 0), kMost);
  EXPECT_EQ(linked(kMost, 0), kMost);
  EXPECT_EQ(linked(0, kMost), kMost);
  EXPECT_EQ(linked(kMost, kMost + 1), kMost + 1);
}

TEST_F(RegisterLimit, OptionsThatAreAnnouncedHaveToBeThere) {
  CUlinkState state = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLinkAddData(
          state,
          CU_JIT_INPUT_PTX,
          const_cast<char*>(kModule),
          sizeof(kModule),
          "x",
          1,
          nullptr,
          nullptr),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
}

TEST_F(RegisterLimit, ConstantsAreThoseThatTheKernelOrACalleeReads) {
  constexpr auto kConstants = CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES;
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kModule), CUDA_SUCCESS);
  EXPECT_EQ(attribute(module, "plain", kConstants), 16);
  EXPECT_EQ(attribute(module, "bounded", kConstants), 0);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing
