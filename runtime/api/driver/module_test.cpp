// Modules, libraries, and the attributes of kernels.
#include <xmmintrin.h>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/driver/testing/context.h"
#include "runtime/api/driver/testing/kernel_file.h"

namespace accelerator::driver::testing {
namespace {

using Module = KernelTest;

TEST_F(Module, KernelsAreCountedAndListed) {
  unsigned count = 0;
  ASSERT_EQ(cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
  ASSERT_EQ(count, 3u);
  std::vector<CUfunction> functions(count);
  ASSERT_EQ(
      cuModuleEnumerateFunctions(functions.data(), count, module),
      CUDA_SUCCESS);
  std::vector<std::string> names;
  for (CUfunction function : functions) {
    const char* name = nullptr;
    ASSERT_EQ(cuFuncGetName(&name, function), CUDA_SUCCESS);
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"bounded", "count", "store"}));
  EXPECT_EQ(
      cuModuleGetFunctionCount(nullptr, module), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuModuleGetFunctionCount(&count, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuModuleEnumerateFunctions(nullptr, count, module),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Module, ParametersHaveOffsetsAndSizes) {
  std::size_t offset = 0;
  std::size_t size = 0;
  const CUfunction store = kernel("store");
  ASSERT_EQ(cuFuncGetParamInfo(store, 1, &offset, &size), CUDA_SUCCESS);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(store, 0, &offset, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(
      cuFuncGetParamInfo(store, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuFuncGetParamInfo(store, 0, nullptr, &size), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Module, KernelsAreFoundByName) {
  CUfunction function = nullptr;
  const char* name = nullptr;
  CUmodule owner = nullptr;
  EXPECT_EQ(
      cuModuleGetFunction(&function, module, "absent"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(
      cuModuleGetFunction(&function, module, nullptr),
      CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "store"), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetName(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, "store");
  EXPECT_EQ(cuFuncGetModule(&owner, function), CUDA_SUCCESS);
  EXPECT_EQ(owner, module);
  EXPECT_EQ(cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncGetModule(&owner, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Module, VariablesHaveAnAddressASizeAndTheirInitialValue) {
  CUdeviceptr address = 0;
  std::size_t size = 0;
  unsigned table[4] = {};
  ASSERT_EQ(cuModuleGetGlobal(&address, &size, module, "table"), CUDA_SUCCESS);
  ASSERT_EQ(size, sizeof(table));
  ASSERT_EQ(cuMemcpyDtoH(table, address, size), CUDA_SUCCESS);
  EXPECT_EQ(table[0], 10u);
  EXPECT_EQ(table[3], 40u);
  // "If one of them is NULL, it is ignored."
  EXPECT_EQ(cuModuleGetGlobal(nullptr, nullptr, module, "table"), CUDA_SUCCESS);
  EXPECT_EQ(
      cuModuleGetGlobal(&address, &size, module, "absent"),
      CUDA_ERROR_NOT_FOUND);
}

TEST_F(Module, EachModuleHasVariablesOfItsOwn) {
  CUmodule other = nullptr;
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(cuModuleLoadFatBinary(&other, kKernels), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetGlobal(&first, nullptr, module, "table"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetGlobal(&second, nullptr, other, "table"), CUDA_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(cuModuleUnload(other), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemGetAddressRange(nullptr, nullptr, second), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Module, AFileIsLoaded) {
  const KernelFile file;
  CUmodule loaded = nullptr;
  CUfunction store = nullptr;
  ASSERT_EQ(cuModuleLoad(&loaded, file.path()), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&store, loaded, "store"), CUDA_SUCCESS);
  EXPECT_EQ(stored_by(store, 41), 41u);
  EXPECT_EQ(cuModuleUnload(loaded), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(loaded), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleLoad(&loaded, "/no/such.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuModuleLoad(&loaded, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Module, AFileThatIsCutOffIsRefused) {
  // The beginnings of a fat binary that says to have 1 MB, of nvcc's wrapper,
  // which holds an address, and of nothing.
  const std::string fat_binary(
      "\x50\xed\x55\xba\1\0\x10\0\0\0\x10\0\0\0\0\0", 16);
  const std::string wrapper(
      "\xb1\x43\x62\x46\1\0\0\0ABCDEFGH\0\0\0\0\0\0\0\0", 24);
  std::vector<std::string> contents = {
      wrapper, wrapper.substr(0, 4), fat_binary + std::string(100, '\1')};
  for (std::size_t size = 4; size <= fat_binary.size(); ++size) {
    contents.push_back(fat_binary.substr(0, size));
  }
  for (const std::string& content : contents) {
    const KernelFile file(content);
    CUmodule loaded = nullptr;
    EXPECT_EQ(cuModuleLoad(&loaded, file.path()), CUDA_ERROR_INVALID_IMAGE)
        << content.size();
  }
  for (const std::size_t size : {0, 1, 3}) {
    const KernelFile file(fat_binary.substr(0, size));
    CUmodule loaded = nullptr;
    EXPECT_EQ(cuModuleLoad(&loaded, file.path()), CUDA_ERROR_INVALID_PTX)
        << size;
  }
}

TEST_F(Module, LoadingIsLazy) {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  EXPECT_EQ(cuModuleGetLoadingMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_MODULE_LAZY_LOADING);
  EXPECT_EQ(cuModuleGetLoadingMode(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Module, BadPtxIsRefusedWithLineAndToken) {
  char log[200] = "";
  CUjit_option options[] = {
      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUmodule bad = nullptr;
  EXPECT_EQ(
      cuModuleLoadDataEx(
          &bad, ".version 7.0\n.target sm_80\nnonsense\n", 2, options, values),
      CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find(":3:1: found 'nonsense'"), std::string::npos)
      << log;
  // The size becomes that of what was written.
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), std::strlen(log) + 1);
}

TEST_F(Module, BadBodiesAreRefusedWhenTheModuleIsLoaded) {
  const std::string head =
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k() {\n.reg .b32 %r<4>; .reg .f32 %f<4>;\n";
  const std::pair<const char*, const char*> bodies[] = {
      {"add.s32 %r1,%r2;", ":6:1: found 'add.s32'"},
      {"add.s64 %r1,%r2,%r3;", ":6:9: found '%r1'"},
      {"add.s32 %f1,%f2,%f3;", ":6:9: found '%f1'"},
      {"@%r1 ret;", ":6:6: found '%r1'"},
      {"bra NOWHERE;", ":6:5: found 'NOWHERE'"},
      {"mov.b32 %r1, %x;", ":6:14: found '%x'"},
      {"ld.global.L2::cache_hint.u32 %r1,[0],%r2;", ":6:38: found '%r2'"},
      {".local .b8 b[1099511627776];", ":6:12: found 'b'"}};
  for (const auto& [body, said] : bodies) {
    char log[400] = "";
    CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
    CUmodule bad = nullptr;
    EXPECT_EQ(
        cuModuleLoadDataEx(
            &bad, (head + body + "\nret;\n}\n").c_str(), 2, options, values),
        CUDA_ERROR_INVALID_PTX)
        << body;
    EXPECT_NE(std::string(log).find(said), std::string::npos) << log;
  }
}

TEST_F(Module, PtxForAnotherTargetIsRefused) {
  const std::pair<const char*, const char*> texts[] = {
      // The device is an sm_80.
      {".version 7.8\n.target sm_90\n", ":2:9: found 'sm_90'"},
      {".version 8.0\n.target sm_90a\n", ":2:9: found 'sm_90a'"},
      {".version 7.0\n.target sm_90\n", ":2:9: found 'sm_90'"},
      {".version 99.0\n.target sm_80\n", ":1:10: found '99.0'"},
      {".version 8.0\n.target sm_80\n.address_size 64\n"
       ".visible .entry k() {\n.reg .b16 %h;\nadd.bf16 %h, %h, %h;\nret;\n}",
       "found 'add.bf16', expected what sm_80 has, and this needs sm_90"}};
  for (const auto& [text, said] : texts) {
    char log[400] = "";
    CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
    CUmodule bad = nullptr;
    EXPECT_EQ(
        cuModuleLoadDataEx(&bad, text, 2, options, values),
        CUDA_ERROR_INVALID_PTX)
        << text;
    EXPECT_NE(std::string(log).find(said), std::string::npos) << log;
  }
}

TEST_F(Module, MachineCodeIsRefused) {
  CUmodule bad = nullptr;
  EXPECT_EQ(cuModuleLoadData(&bad, "\177ELF..."), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&bad, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Module, ALibraryGivesKernelsVariablesAndItsModule) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  CUmodule inside = nullptr;
  CUdeviceptr address = 0;
  std::size_t size = 0;
  ASSERT_EQ(
      cuLibraryLoadData(
          &library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuLibraryGetKernel(&kernel, library, "absent"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  ASSERT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  EXPECT_EQ(stored_by(function, 42), 42u);
  // A kernel may be launched under its own handle, too.
  EXPECT_EQ(stored_by(reinterpret_cast<CUfunction>(kernel), 43), 43u);
  ASSERT_EQ(cuLibraryGetModule(&inside, library), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, inside, "count"), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLibraryGetGlobal(&address, &size, library, "table"), CUDA_SUCCESS);
  EXPECT_EQ(size, 16u);
  EXPECT_EQ(
      cuLibraryGetGlobal(&address, &size, library, "absent"),
      CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryGetModule(&inside, library), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Module, ALibraryIsOfNoContext) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxPopCurrent(&context), CUDA_SUCCESS);
  CUlibrary library = nullptr;
  ASSERT_EQ(
      cuLibraryLoadData(
          &library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, kKernels), CUDA_ERROR_INVALID_CONTEXT);
  unsigned count = 0;
  EXPECT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  EXPECT_EQ(count, 3u);
  CUkernel kernels[3] = {};
  EXPECT_EQ(cuLibraryEnumerateKernels(kernels, 3, library), CUDA_SUCCESS);
  EXPECT_NE(kernels[2], nullptr);
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  CUcontext current = context;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr); // and asking makes none
  ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(stored_by(reinterpret_cast<CUfunction>(kernel), 45), 45u);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(Module, ALibraryIsLoadedFromAFile) {
  const KernelFile file;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  const auto load = [&](const char* path) {
    return cuLibraryLoadFromFile(
        &library, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  EXPECT_EQ(load("/no/such.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(load(nullptr), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(load(file.path()), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  EXPECT_EQ(stored_by(reinterpret_cast<CUfunction>(kernel), 44), 44u);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(Module, KernelsOfALibraryTellTheirNamesAndParameters) {
  CUlibrary library = nullptr;
  ASSERT_EQ(
      cuLibraryLoadData(
          &library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  unsigned count = 0;
  ASSERT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  ASSERT_EQ(count, 3u);
  std::vector<CUkernel> kernels(count);
  ASSERT_EQ(
      cuLibraryEnumerateKernels(kernels.data(), count, library), CUDA_SUCCESS);
  std::vector<std::string> names;
  for (CUkernel kernel : kernels) {
    const char* name = "";
    std::size_t offset = 1;
    std::size_t size = 0;
    EXPECT_EQ(cuKernelGetName(&name, kernel), CUDA_SUCCESS);
    EXPECT_EQ(cuKernelGetParamInfo(kernel, 0, &offset, &size), CUDA_SUCCESS);
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(size, 8u);
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"bounded", "count", "store"}));
  EXPECT_EQ(
      cuKernelSetCacheConfig(kernels[0], CU_FUNC_CACHE_PREFER_L1, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuKernelSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1, 0),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(Module, KernelsAreLoaded) {
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
  EXPECT_EQ(cuFuncIsLoaded(&state, kernel("store")), CUDA_SUCCESS);
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
  EXPECT_EQ(cuFuncLoad(kernel("store")), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncLoad(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

int attribute(CUfunction function, CUfunction_attribute which) {
  int value = -1;
  EXPECT_EQ(cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS);
  return value;
}

TEST_F(Module, AttributesSayWhatAKernelNeeds) {
  const CUfunction bounded = kernel("bounded");
  EXPECT_EQ(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
  EXPECT_EQ(attribute(bounded, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
  EXPECT_EQ(attribute(bounded, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
  EXPECT_GT(attribute(bounded, CU_FUNC_ATTRIBUTE_NUM_REGS), 0);
  EXPECT_EQ(attribute(bounded, CU_FUNC_ATTRIBUTE_PTX_VERSION), 80);
  const CUfunction store = kernel("store");
  EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
  int value = 0;
  EXPECT_EQ(
      cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, store),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, store),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Module, MoreSharedMemoryHasToBeAskedFor) {
  constexpr auto kMost = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  constexpr unsigned kMuch = 60 << 10; // more than the 48 KiB of any kernel
  const CUfunction bounded = kernel("bounded");
  const Array<unsigned> place(1);
  CUdeviceptr address = place.address();
  void* arguments[] = {&address};
  const auto launch = [&] {
    return cuLaunchKernel(
        bounded, 1, 1, 1, 1, 1, 1, kMuch, nullptr, arguments, nullptr);
  };
  EXPECT_EQ(attribute(bounded, kMost), (48 << 10) - 1024);
  EXPECT_EQ(launch(), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuFuncSetAttribute(bounded, kMost, kMuch), CUDA_SUCCESS);
  EXPECT_EQ(attribute(bounded, kMost), static_cast<int>(kMuch));
  EXPECT_EQ(launch(), CUDA_SUCCESS);
  EXPECT_EQ(place.values()[0], 5u);
  EXPECT_EQ(
      cuFuncSetAttribute(bounded, kMost, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(bounded, kMost, -1), CUDA_ERROR_INVALID_VALUE);
}

// Triton asks in this way for what CUDA 13 has, and goes on without.
TEST_F(Module, AttributesOfLaterVersionsAreRefusedWithoutALine) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(
      cuFuncSetAttribute(
          kernel("store"), static_cast<CUfunction_attribute>(17), 1),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(
      cuFuncSetAttribute(
          kernel("store"),
          CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
          1),
      CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Module, TheCarveoutIsAPercentageOrLeftOpen) {
  constexpr auto kCarveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  const CUfunction store = kernel("store");
  EXPECT_EQ(cuFuncSetAttribute(store, kCarveout, 30), CUDA_SUCCESS);
  EXPECT_EQ(attribute(store, kCarveout), 30);
  EXPECT_EQ(
      cuFuncSetAttribute(store, kCarveout, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetCacheConfig(store, CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  EXPECT_EQ(
      cuFuncSetSharedMemConfig(store, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuFuncSetSharedMemConfig(nullptr, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
      CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Module, AKernelHandleHasTheSameAttributesOnADevice) {
  constexpr auto kThreads = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
  constexpr auto kMost = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const auto bounded = reinterpret_cast<CUkernel>(kernel("bounded"));
  int value = 0;
  EXPECT_EQ(cuKernelGetAttribute(&value, kThreads, bounded, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(cuKernelSetAttribute(kMost, 2048, bounded, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetAttribute(&value, kMost, bounded, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 2048);
  EXPECT_EQ(
      cuKernelGetAttribute(&value, kThreads, bounded, 2),
      CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(
      cuKernelSetAttribute(kMost, 2048, bounded, 2), CUDA_ERROR_INVALID_DEVICE);
}

// Rounding and flushing of the thread that loads it have no part in it.
TEST_F(ContextTest, NumbersOfAModuleAreWhatItsTextSays) {
  constexpr char kText[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 8 .f64 numbers[5] = {0.3, 2.5e-308 * 0.001};
.visible .entry fill()
{
  .reg .b64 %rd1;
  .reg .f64 %fd<3>;
  .reg .f32 %f1;
  mov.u64 %rd1, numbers;
  mov.f64 %fd1, 0.3;
  mov.f64 %fd2, 2.5e-308 * 0.001;
  mov.f32 %f1, 0.7;
  st.global.f64 [%rd1+16], %fd1;
  st.global.f64 [%rd1+24], %fd2;
  st.global.f32 [%rd1+32], %f1;
  ret;
}
)";
  std::fenv_t before;
  std::fegetenv(&before);
  _mm_setcsr(_mm_getcsr() | 0x8040); // results, operands
  std::fesetround(FE_UPWARD);
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  const CUresult loaded = cuModuleLoadData(&module, kText);
  const CUresult found = cuModuleGetFunction(&fill, module, "fill");
  std::fesetenv(&before);
  ASSERT_EQ(loaded, CUDA_SUCCESS);
  ASSERT_EQ(found, CUDA_SUCCESS);
  ASSERT_EQ(
      cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
      CUDA_SUCCESS);
  CUdeviceptr numbers = 0;
  ASSERT_EQ(
      cuModuleGetGlobal(&numbers, nullptr, module, "numbers"), CUDA_SUCCESS);
  double results[5] = {};
  ASSERT_EQ(cuMemcpyDtoH(results, numbers, sizeof(results)), CUDA_SUCCESS);
  for (const int first : {0, 2}) {
    EXPECT_EQ(results[first], 0.3);
    EXPECT_EQ(results[first + 1], 2.5e-308 * 0.001); // a subnormal number
  }
  float single = 0;
  std::memcpy(&single, &results[4], sizeof(single));
  EXPECT_EQ(single, 0.7f);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing
