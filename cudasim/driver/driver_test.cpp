// PTX text that is loaded, launched and refused through the driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr char kStore[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 place, .param .u32 value)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [place];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&place, sizeof(unsigned)), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuMemFree(place), CUDA_SUCCESS);
  }
  unsigned stored() {
    unsigned value = 0;
    EXPECT_EQ(cuMemcpyDtoH(&value, place, sizeof(value)), CUDA_SUCCESS);
    return value;
  }

  CUdeviceptr place = 0;
};

// In a process of its own: the other tests have called cuInit.
TEST(DriverDeathTest, NothingIsAnsweredBeforeInit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        int value = 0;
        const bool refused =
            cuDeviceGetCount(&value) == CUDA_ERROR_NOT_INITIALIZED &&
            cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
        const bool answered = cuDriverGetVersion(&value) == CUDA_SUCCESS &&
            cuInit(0) == CUDA_SUCCESS &&
            cuDeviceGetCount(&value) == CUDA_SUCCESS;
        std::exit(refused && answered ? 0 : 1);
      },
      testing::ExitedWithCode(0),
      "");
}

TEST_F(Driver, AKernelIsLaunchedWithBothKindsOfParameters) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kStore), CUDA_SUCCESS);
  EXPECT_EQ(
      cuModuleGetFunction(&function, module, "absent"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "store"), CUDA_SUCCESS);

  unsigned value = 77;
  void* pointers[] = {&place, &value};
  ASSERT_EQ(
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(stored(), 77u);

  char buffer[12];
  value = 88;
  std::memcpy(buffer, &place, sizeof(place));
  std::memcpy(buffer + sizeof(place), &value, sizeof(value));
  std::size_t size = sizeof(buffer);
  void* packed[] = {
      CU_LAUNCH_PARAM_BUFFER_POINTER,
      buffer,
      CU_LAUNCH_PARAM_BUFFER_SIZE,
      &size,
      CU_LAUNCH_PARAM_END};
  ASSERT_EQ(
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, packed),
      CUDA_SUCCESS);
  EXPECT_EQ(stored(), 88u);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, packed),
      CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, BadPtxIsRefusedWithLineAndToken) {
  char log[200] = "";
  CUjit_option options[] = {
      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUmodule module = nullptr;
  EXPECT_EQ(
      cuModuleLoadDataEx(
          &module,
          ".version 7.0\n.target sm_80\nnonsense\n",
          2,
          options,
          values),
      CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find(":3:1: found 'nonsense'"), std::string::npos)
      << log;
}

TEST_F(Driver, MachineCodeIsRefused) {
  CUmodule module = nullptr;
  EXPECT_EQ(
      cuModuleLoadData(&module, "\177ELF..."), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(Driver, TheLinkerGivesBackPtxThatLoads) {
  CUlinkState linker = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  CUmodule module = nullptr;
  std::string text = kStore;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &linker), CUDA_SUCCESS);
  ASSERT_EQ(
      cuLinkAddData(
          linker,
          CU_JIT_INPUT_PTX,
          text.data(),
          text.size() + 1,
          "store.ptx",
          0,
          nullptr,
          nullptr),
      CUDA_SUCCESS);
  ASSERT_EQ(cuLinkComplete(linker, &image, &size), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(linker), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Driver, MemoryIsMappedWhereAddressesAreReserved) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t unit = 0;
  ASSERT_EQ(
      cuMemGetAllocationGranularity(
          &unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      CUDA_SUCCESS);
  CUdeviceptr base = 0;
  CUmemGenericAllocationHandle memory = 0;
  ASSERT_EQ(cuMemAddressReserve(&base, 4 * unit, 0, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemCreate(&memory, 2 * unit, &properties, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(base + unit, 2 * unit, 0, memory, 0), CUDA_SUCCESS);
  const CUmemAccessDesc access{
      properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(cuMemSetAccess(base + unit, 2 * unit, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(base + unit, 1, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(base, 1, unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(base, 4 * unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base + unit, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(base, 4 * unit), CUDA_SUCCESS);
}

TEST_F(Driver, FunctionsAreFoundByNameAndVersion) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult found{};
  EXPECT_EQ(
      cuGetProcAddress("cuMemAlloc", &function, 12040, 0, &found),
      CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc));
  EXPECT_EQ(
      cuGetProcAddress("cuNothing", &function, 12040, 0, &found),
      CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

} // namespace
