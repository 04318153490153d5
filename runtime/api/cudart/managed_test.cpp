// Host memory that devices see, managed memory, and variables.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

// What code of nvcc calls for a variable of the host; it is in no public
// header.
extern "C" void __cudaRegisterHostVar(
    void** module,
    const char* device_name,
    char* host_variable,
    std::size_t size);

namespace accelerator::cudart::testing {
namespace {

class HostMemory : public Runtime {};
class Managed : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    ASSERT_OK(cudaMallocManaged(
        reinterpret_cast<void**>(&values), kBytes, cudaMemAttachGlobal));
  }
  void TearDown() override {
    EXPECT_OK(cudaFree(values));
    Runtime::TearDown();
  }

  static constexpr std::size_t kBytes = 100 * sizeof(int);
  int* values = nullptr;
};
class Symbols : public Runtime {
 protected:
  std::vector<int> look_up_eight() {
    OnDevice found(8);
    int* data = found.data();
    void* arguments[] = {&data};
    EXPECT_OK(cudaLaunchKernel(symbol(look_up), 1, 8, arguments, 0, nullptr));
    return found.get();
  }
};

TEST_F(HostMemory, IsUsedByKernelsAtItsOwnAddress) {
  int* values = nullptr;
  ASSERT_OK(cudaHostAlloc(
      reinterpret_cast<void**>(&values),
      40 * sizeof(int),
      cudaHostAllocMapped | cudaHostAllocWriteCombined));
  void* device = nullptr;
  EXPECT_OK(cudaHostGetDevicePointer(&device, values, 0));
  EXPECT_EQ(device, values); // unified addressing
  launch_add(static_cast<int*>(device), 3, 40);
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[39], 3);
  unsigned flags = 0;
  EXPECT_OK(cudaHostGetFlags(&flags, values));
  EXPECT_NE(flags & cudaHostAllocWriteCombined, 0u);
  EXPECT_NE(flags & cudaHostAllocMapped, 0u);
  EXPECT_OK(cudaFreeHost(values));
}

TEST_F(HostMemory, IsNotWhatNobodyAllocated) {
  int on_stack = 0;
  void* device = nullptr;
  unsigned flags = 0;
  EXPECT_EQ(
      cudaHostGetDevicePointer(&device, &on_stack, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostGetFlags(&flags, &on_stack), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(&on_stack), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostAlloc(&device, 10, 1u << 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostAlloc(nullptr, 10, 0), cudaErrorInvalidValue);
  OnDevice memory(1);
  EXPECT_EQ(cudaHostGetFlags(&flags, memory.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(memory.data()), cudaErrorInvalidValue);
  EXPECT_OK(cudaFreeHost(nullptr));
}

TEST_F(Managed, IsTheSameForHostAndDevice) {
  values[0] = 10;
  values[99] = 20;
  ASSERT_OK(cudaMemPrefetchAsync(values, kBytes, 0, nullptr));
  launch_add(values, 1, 100);
  ASSERT_OK(cudaMemPrefetchAsync(values, kBytes, cudaCpuDeviceId, nullptr));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(values[0], 11);
  EXPECT_EQ(values[50], 1);
  EXPECT_EQ(values[99], 21);
}

TEST_F(Managed, TakesAdvice) {
  EXPECT_OK(cudaMemAdvise(values, kBytes, cudaMemAdviseSetReadMostly, 0));
  EXPECT_OK(cudaMemAdvise(
      values, kBytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
  EXPECT_OK(cudaMemAdvise_v2(
      values,
      kBytes,
      cudaMemAdviseSetAccessedBy,
      {cudaMemLocationTypeDevice, 1}));
  EXPECT_EQ(
      cudaMemAdvise(values, kBytes, cudaMemAdviseSetAccessedBy, 2),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaMemAdvise_v2(
          values,
          kBytes,
          cudaMemAdviseSetAccessedBy,
          {cudaMemLocationTypeDevice, 2}),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaMemAdvise(values, kBytes + 1, cudaMemAdviseSetReadMostly, 0),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemAdvise(values, kBytes, static_cast<cudaMemoryAdvise>(99), 0),
      cudaErrorInvalidValue);
  OnDevice other(1);
  EXPECT_EQ(
      cudaMemAdvise(other.data(), 4, cudaMemAdviseSetReadMostly, 0),
      cudaErrorInvalidValue);
}

TEST_F(Managed, OnlyIsPrefetched) {
  EXPECT_OK(cudaMemPrefetchAsync_v2(
      values, kBytes, {cudaMemLocationTypeDevice, 1}, 0, nullptr));
  EXPECT_OK(cudaMemPrefetchAsync_v2(
      values, kBytes, {cudaMemLocationTypeHost, 0}, 0, nullptr));
  EXPECT_EQ(
      cudaMemPrefetchAsync_v2(
          values, kBytes, {cudaMemLocationTypeDevice, 2}, 0, nullptr),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaMemPrefetchAsync_v2(
          values, kBytes, {cudaMemLocationTypeDevice, 0}, 1, nullptr),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemPrefetchAsync(values, kBytes, 2, nullptr), cudaErrorInvalidDevice);
  OnDevice other(1);
  EXPECT_EQ(
      cudaMemPrefetchAsync(other.data(), 4, 0, nullptr), cudaErrorInvalidValue);
}

TEST_F(Managed, IsAttachedToAStream) {
  OwnStream stream;
  OnDevice other(1);
  EXPECT_OK(cudaStreamAttachMemAsync(stream, values, 0, cudaMemAttachSingle));
  EXPECT_EQ(
      cudaStreamAttachMemAsync(stream, other.data(), 0, cudaMemAttachSingle),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaStreamAttachMemAsync(stream, values, 0, 64), cudaErrorInvalidValue);
}

TEST_F(Managed, VariablesAreTheSameForHostAndDevice) {
  int* variable = managed_variable();
  EXPECT_EQ(*variable, 7);
  *variable = 30;
  ASSERT_OK(cudaLaunchKernel(symbol(bump_managed), 1, 1, nullptr, 0, nullptr));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*variable, 31);
  *variable = 7;
}

TEST_F(Symbols, HaveAnAddressAndASize) {
  std::size_t size = 0;
  void* address = nullptr;
  ASSERT_OK(cudaGetSymbolSize(&size, table_symbol()));
  EXPECT_EQ(size, kTableSize * sizeof(int));
  ASSERT_OK(cudaGetSymbolAddress(&address, offset_symbol()));
  int offset = 0;
  EXPECT_OK(cudaMemcpy(&offset, address, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_EQ(offset, 5);
  EXPECT_EQ(cudaGetSymbolSize(&size, &offset), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolAddress(&address, &offset), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolSize(nullptr, table_symbol()), cudaErrorInvalidValue);
}

TEST_F(Symbols, AreWrittenForKernels) {
  EXPECT_EQ(
      look_up_eight(), (std::vector<int>{15, 25, 35, 45, 15, 25, 35, 45}));
  const int middle[] = {7, 8};
  const int zero = 0;
  ASSERT_OK(cudaMemcpyToSymbol(
      table_symbol(),
      middle,
      sizeof(middle),
      sizeof(int),
      cudaMemcpyHostToDevice));
  OwnStream stream;
  ASSERT_OK(cudaMemcpyToSymbolAsync(
      offset_symbol(), &zero, sizeof(int), 0, cudaMemcpyHostToDevice, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(look_up_eight(), (std::vector<int>{10, 7, 8, 40, 10, 7, 8, 40}));

  int found[2] = {};
  ASSERT_OK(cudaMemcpyFromSymbol(
      found, table_symbol(), sizeof(found), 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(found[0], 7);
  EXPECT_EQ(found[1], 8);
  Pinned last(1);
  ASSERT_OK(cudaMemcpyFromSymbolAsync(
      last.data(), table_symbol(), 4, 12, cudaMemcpyDefault, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(last[0], 40);

  const int before[] = {20, 30};
  const int five = 5;
  EXPECT_OK(
      cudaMemcpyToSymbol(table_symbol(), before, 8, 4, cudaMemcpyHostToDevice));
  EXPECT_OK(
      cudaMemcpyToSymbol(offset_symbol(), &five, 4, 0, cudaMemcpyDefault));
}

TEST_F(Symbols, AreOfEachDevice) {
  ASSERT_OK(cudaSetDevice(1));
  const int other = 100;
  ASSERT_OK(
      cudaMemcpyToSymbol(offset_symbol(), &other, 4, 0, cudaMemcpyDefault));
  EXPECT_EQ(look_up_eight()[0], 110);
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_EQ(look_up_eight()[0], 15);
}

TEST_F(Symbols, OnTheHostAreNamedAsMissing) {
  static char variable = 0;
  // In a process of its own: each name is reported once.
  EXPECT_EXIT(
      {
        __cudaRegisterHostVar(nullptr, "variable", &variable, 1);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0),
      "__cudaRegisterHostVar is not supported");
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &variable), cudaErrorInvalidSymbol);
}

TEST_F(Symbols, AreNotCopiedBeyondTheirEndOrTheWrongWay) {
  int values[8] = {};
  const std::size_t bytes = kTableSize * sizeof(int);
  EXPECT_EQ(
      cudaMemcpyToSymbol(
          table_symbol(), values, bytes, 1, cudaMemcpyHostToDevice),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemcpyFromSymbol(
          values, table_symbol(), bytes + 1, 0, cudaMemcpyDeviceToHost),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemcpyToSymbolAsync(
          table_symbol(), values, 4, 0, cudaMemcpyDeviceToHost, nullptr),
      cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(
      cudaMemcpyFromSymbolAsync(
          values, table_symbol(), 4, 0, cudaMemcpyHostToDevice, nullptr),
      cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(
      cudaMemcpyToSymbol(values, values, 4, 0, cudaMemcpyHostToDevice),
      cudaErrorInvalidSymbol);
  EXPECT_EQ(
      cudaMemcpyFromSymbol(values, values, 4, 0, cudaMemcpyDeviceToHost),
      cudaErrorInvalidSymbol);
}

TEST_F(Managed, IsFreedWhenNoDeviceUsesItAnyMore) {
  int* memory = nullptr;
  ASSERT_OK(cudaMallocManaged(
      reinterpret_cast<void**>(&memory), kBytes, cudaMemAttachGlobal));
  Gate gate;
  int done = 0;
  ASSERT_OK(cudaSetDevice(1));
  {
    OwnStream other;
    ASSERT_OK(cudaLaunchHostFunc(other, Gate::wait, &gate));
    ASSERT_OK(cudaMemsetAsync(memory, 1, kBytes, other));
    ASSERT_OK(cudaLaunchHostFunc(other, count_up, &done));
    ASSERT_OK(cudaSetDevice(0));
    // The other device gets to the memory only while it is being freed.
    std::thread opener([&gate] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      gate.open();
    });
    EXPECT_OK(cudaFree(memory));
    EXPECT_EQ(done, 1);
    opener.join();
    ASSERT_OK(cudaSetDevice(1));
  }
}

} // namespace
} // namespace accelerator::cudart::testing
