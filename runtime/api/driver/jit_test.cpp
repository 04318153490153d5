// Loading PTX: the logs of it, and what old PTX means.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

class Jit : public ContextTest {};

// Programs print the buffers whatever the outcome, by their texts or sizes.
TEST_F(Jit, WithoutMessagesTheLogsAreEmpty) {
  const std::string bad = "nonsense";
  for (const bool links : {false, true}) {
    char info[100], error[100];
    std::memset(info, 'x', sizeof(info));
    std::memset(error, 'x', sizeof(error));
    CUjit_option options[] = {
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_ERROR_LOG_BUFFER};
    void* values[] = {
        info,
        reinterpret_cast<void*>(sizeof(info)),
        reinterpret_cast<void*>(sizeof(error)),
        error};
    if (links) {
      CUlinkState link = nullptr;
      void* image = nullptr;
      std::size_t size = 0;
      ASSERT_EQ(cuLinkCreate(4, options, values, &link), CUDA_SUCCESS);
      std::string kernels = kKernels;
      ASSERT_EQ(
          cuLinkAddData(
              link,
              CU_JIT_INPUT_PTX,
              kernels.data(),
              kernels.size() + 1,
              "kernels",
              0,
              nullptr,
              nullptr),
          CUDA_SUCCESS);
      ASSERT_EQ(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
      ASSERT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
    } else {
      CUmodule loaded = nullptr;
      ASSERT_EQ(
          cuModuleLoadDataEx(&loaded, kKernels, 4, options, values),
          CUDA_SUCCESS);
      ASSERT_EQ(cuModuleUnload(loaded), CUDA_SUCCESS);
    }
    EXPECT_EQ(std::string(info, strnlen(info, sizeof(info))), "");
    EXPECT_EQ(std::string(error, strnlen(error, sizeof(error))), "");
    EXPECT_EQ(values[1], nullptr);
    EXPECT_EQ(values[2], nullptr);
  }
  // No byte of a buffer whose size is 0, or is not told.
  char untouched = 'x';
  CUjit_option options[] = {
      CU_JIT_INFO_LOG_BUFFER,
      CU_JIT_ERROR_LOG_BUFFER,
      CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {&untouched, &untouched, nullptr};
  CUmodule loaded = nullptr;
  ASSERT_EQ(
      cuModuleLoadDataEx(&loaded, kKernels, 3, options, values), CUDA_SUCCESS);
  EXPECT_EQ(untouched, 'x');
  EXPECT_EQ(cuModuleUnload(loaded), CUDA_SUCCESS);
  EXPECT_NE(
      cuModuleLoadDataEx(&loaded, bad.c_str(), 3, options, values),
      CUDA_SUCCESS);
  EXPECT_EQ(untouched, 'x');
}

// Source: PTX ISA, mad: before 3.2, and for sm_1x, no rounding means .rn; for
// sm_1x on devices of today with .ftz.
TEST_F(Jit, MadOfOldPtxNeedsNoRounding) {
  struct Case {
    const char* version;
    const char* target;
    bool taken;
    bool flushes;
  };
  constexpr Case kCases[] = {
      {"2.3", "sm_20", true, false},
      {"3.0", "sm_20", true, false},
      {"3.1", "sm_30", true, false},
      {"3.2", "sm_20", false, false},
      {"7.0", "sm_80", false, false},
      {"3.0", "sm_10", true, true},
      {"7.0", "sm_13", true, true}};
  const float least = std::numeric_limits<float>::denorm_min();
  const float a = 1 + std::ldexp(1.0f, -23);
  const struct {
    const char* instruction;
    float a, b, c, result, flushed;
  } kMads[] = {// One rounding: a product that is rounded first gives 0 here.
               {"mad.f32",
                a,
                a,
                -(1 + std::ldexp(1.0f, -22)),
                std::ldexp(1.0f, -46),
                std::ldexp(1.0f, -46)},
               {"mad.f32", least, 1, 0, least, 0},
               {"mad.ftz.f32", least, 1, 0, 0, 0},
               {"mad.sat.f32", 3, 1, 0, 1, 1}};
  for (const Case& one : kCases) {
    for (const auto& mad : kMads) {
      const std::string text = std::string(".version ") + one.version +
          "\n.target " + one.target + R"(
.address_size 64
.entry k(.param .u64 place, .param .f32 a, .param .f32 b, .param .f32 c)
{
  .reg .u64 %rd1;
  .reg .f32 %f<5>;
  ld.param.u64 %rd1, [place];
  ld.param.f32 %f1, [a];
  ld.param.f32 %f2, [b];
  ld.param.f32 %f3, [c];
  )" + mad.instruction +
          R"( %f4, %f1, %f2, %f3;
  st.global.f32 [%rd1], %f4;
  exit;
}
)";
      CUmodule loaded = nullptr;
      const CUresult status = cuModuleLoadData(&loaded, text.c_str());
      EXPECT_EQ(status, one.taken ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX)
          << one.version << ' ' << one.target << ' ' << mad.instruction;
      if (status != CUDA_SUCCESS) {
        continue;
      }
      const Array<float> result(1);
      CUdeviceptr place = result.address();
      float a = mad.a, b = mad.b, c = mad.c;
      void* arguments[] = {&place, &a, &b, &c};
      CUfunction kernel = nullptr;
      ASSERT_EQ(cuModuleGetFunction(&kernel, loaded, "k"), CUDA_SUCCESS);
      ASSERT_EQ(
          cuLaunchKernel(
              kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
          CUDA_SUCCESS);
      EXPECT_EQ(result.values()[0], one.flushes ? mad.flushed : mad.result)
          << one.version << ' ' << one.target << ' ' << mad.instruction;
      ASSERT_EQ(cuModuleUnload(loaded), CUDA_SUCCESS);
    }
  }
}

} // namespace
} // namespace accelerator::driver::testing
