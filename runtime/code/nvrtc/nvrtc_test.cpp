// Kernels compiled while the program runs, by NVIDIA's compiler.
#include <nvrtc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/api/driver/testing/context.h"
#include "runtime/code/nvrtc/machine_code.h"

namespace accelerator::driver::testing {
namespace {

class Nvrtc : public ContextTest {
 protected:
  void SetUp() override {
    int major = 0, minor = 0;
    if (nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) {
      GTEST_SKIP() << "NVIDIA's libnvrtc.so.12 is not installed";
    }
    EXPECT_EQ(major, 12);
  }
  void TearDown() override {
    if (program != nullptr) {
      EXPECT_EQ(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
      EXPECT_EQ(program, nullptr);
    }
  }
  void create(const char* source) {
    ASSERT_EQ(
        nvrtcCreateProgram(&program, source, "test.cu", 0, nullptr, nullptr),
        NVRTC_SUCCESS);
  }

  nvrtcProgram program = nullptr;
};

// PyTorch asks for the machine code of the device that it sees.
TEST_F(Nvrtc, WhatIsAskedForAsMachineCodeRunsOnTheDevice) {
  create(
      "template <typename T> __global__ void twice(T* x) {"
      "  x[threadIdx.x] *= 2;"
      "}");
  ASSERT_EQ(nvrtcAddNameExpression(program, "twice<float>"), NVRTC_SUCCESS);
  const char* options[] = {"--gpu-architecture=sm_80"};
  ASSERT_EQ(nvrtcCompileProgram(program, 1, options), NVRTC_SUCCESS);
  std::size_t size = 0;
  const char* name = nullptr;
  ASSERT_EQ(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
  std::vector<char> code(size);
  ASSERT_EQ(nvrtcGetCUBIN(program, code.data()), NVRTC_SUCCESS);
  ASSERT_EQ(nvrtcGetLoweredName(program, "twice<float>", &name), NVRTC_SUCCESS);

  CUmodule module = nullptr;
  CUfunction twice = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, code.data()), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&twice, module, name), CUDA_SUCCESS);
  const Array<float> array(std::vector<float>{1, -2, 3.5});
  CUdeviceptr address = array.address();
  void* arguments[] = {&address};
  ASSERT_EQ(
      cuLaunchKernel(twice, 1, 1, 1, 3, 1, 1, 0, nullptr, arguments, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(array.values(), (std::vector<float>{2, -4, 7}));
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);

  size = 0;
  ASSERT_EQ(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
  std::string ptx(size, '\0');
  EXPECT_EQ(nvrtcGetPTX(program, ptx.data()), NVRTC_SUCCESS);
  // Libraries tell one from the other (//runtime/code/nvjitlink).
  const std::string marked(code.begin(), code.end());
  EXPECT_EQ(marked, std::string(nvrtc::kMachineCodeMark) + ptx);
  EXPECT_TRUE(nvrtc::stands_for_machine_code(marked));
  EXPECT_FALSE(nvrtc::stands_for_machine_code(ptx));
}

// What nvJitLink links (//runtime/code/nvjitlink).
TEST_F(Nvrtc, OptimisationAtLinkTimeIsLeftToTheLinker) {
  create("__device__ int seven() { return 7; }");
  const char* options[] = {"--gpu-architecture=sm_80", "-dlto"};
  ASSERT_EQ(nvrtcCompileProgram(program, 2, options), NVRTC_SUCCESS);
  std::size_t size = 0;
  ASSERT_EQ(nvrtcGetLTOIRSize(program, &size), NVRTC_SUCCESS);
  ASSERT_GT(size, 0u);
  std::string code(size, '\0');
  ASSERT_EQ(nvrtcGetLTOIR(program, code.data()), NVRTC_SUCCESS);
  // The magic number of NVVM's containers, 0x7f4e43ed.
  EXPECT_EQ(code.substr(0, 4), "\xed\x43\x4e\x7f");
}

TEST_F(Nvrtc, TheLogNamesTheErrorOfASource) {
  create("__global__ void broken() { undeclared(); }");
  EXPECT_EQ(nvrtcCompileProgram(program, 0, nullptr), NVRTC_ERROR_COMPILATION);
  std::size_t size = 0;
  ASSERT_EQ(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
  std::string log(size, '\0');
  ASSERT_EQ(nvrtcGetProgramLog(program, log.data()), NVRTC_SUCCESS);
  EXPECT_NE(log.find("undeclared"), std::string::npos) << log;
  EXPECT_STREQ(
      nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION");
}

TEST_F(Nvrtc, TheArchitecturesAreListed) {
  int count = 0;
  ASSERT_EQ(nvrtcGetNumSupportedArchs(&count), NVRTC_SUCCESS);
  std::vector<int> architectures(static_cast<std::size_t>(count));
  ASSERT_EQ(nvrtcGetSupportedArchs(architectures.data()), NVRTC_SUCCESS);
  EXPECT_NE(
      std::find(architectures.begin(), architectures.end(), 80),
      architectures.end());
}

} // namespace
} // namespace accelerator::driver::testing
