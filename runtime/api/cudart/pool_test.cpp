// Memory pools and allocation in the order of a stream.
#include <cstdint>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;

cudaMemPoolProps on_device(int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location = {cudaMemLocationTypeDevice, device};
  return properties;
}

class Pools : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    const cudaMemPoolProps properties = on_device(0);
    ASSERT_OK(cudaMemPoolCreate(&pool, &properties));
  }
  void TearDown() override {
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT_OK(cudaMemPoolDestroy(pool));
    Runtime::TearDown();
  }
  std::uint64_t number(cudaMemPoolAttr attribute, cudaMemPool_t of) {
    std::uint64_t value = 99;
    EXPECT_OK(cudaMemPoolGetAttribute(of, attribute, &value));
    return value;
  }

  OwnStream stream;
  cudaMemPool_t pool = nullptr;
};

TEST_F(Pools, CountWhatIsTakenAndGivenBack) {
  void* memory = nullptr;
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), 0u);
  ASSERT_OK(cudaMallocFromPoolAsync(&memory, kMegabyte, pool, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), kMegabyte);
  EXPECT_GE(number(cudaMemPoolAttrReservedMemCurrent, pool), kMegabyte);
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), 0u);
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemHigh, pool), kMegabyte);
  std::uint64_t zero = 0;
  std::uint64_t one = 1;
  EXPECT_EQ(
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one),
      cudaErrorInvalidValue);
  EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemHigh, pool), 0u);
}

TEST_F(Pools, DoNotCountForEachOther) {
  cudaMemPool_t normal = nullptr;
  void* own = nullptr;
  void* common = nullptr;
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&normal, 0));
  const auto before = number(cudaMemPoolAttrUsedMemCurrent, normal);
  ASSERT_OK(cudaMallocFromPoolAsync(&own, kMegabyte, pool, stream));
  ASSERT_OK(cudaMallocAsync(&common, 2 * kMegabyte, stream));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), kMegabyte);
  EXPECT_EQ(
      number(cudaMemPoolAttrUsedMemCurrent, normal), before + 2 * kMegabyte);
  // cudaFree takes memory of a pool, too.
  EXPECT_OK(cudaFree(own));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), 0u);
  EXPECT_EQ(
      number(cudaMemPoolAttrUsedMemCurrent, normal), before + 2 * kMegabyte);
  EXPECT_OK(cudaFreeAsync(common, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, normal), before);
}

TEST_F(Pools, AreTakenFromByTheDeviceTheyAreSetFor) {
  cudaMemPool_t normal = nullptr;
  cudaMemPool_t current = nullptr;
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&normal, 0));
  ASSERT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT_EQ(current, normal);
  ASSERT_OK(cudaDeviceSetMemPool(0, pool));
  ASSERT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT_EQ(current, pool);
  void* memory = nullptr;
  ASSERT_OK(cudaMallocAsync(&memory, kMegabyte, stream));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), kMegabyte);
  ASSERT_OK(cudaFreeAsync(memory, stream));
  EXPECT_EQ(cudaDeviceSetMemPool(1, pool), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSetMemPool(0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&current, 2), cudaErrorInvalidDevice);
  EXPECT_OK(cudaDeviceSetMemPool(0, normal));
}

TEST_F(Pools, KeepTheirAttributes) {
  std::uint64_t threshold = 3 * kMegabyte;
  int off = 0;
  int value = 1;
  EXPECT_EQ(number(cudaMemPoolAttrReleaseThreshold, pool), 0u);
  ASSERT_OK(cudaMemPoolSetAttribute(
      pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_EQ(number(cudaMemPoolAttrReleaseThreshold, pool), threshold);
  for (const auto reuse :
       {cudaMemPoolReuseFollowEventDependencies,
        cudaMemPoolReuseAllowOpportunistic,
        cudaMemPoolReuseAllowInternalDependencies}) {
    ASSERT_OK(cudaMemPoolGetAttribute(pool, reuse, &value));
    EXPECT_EQ(value, 1);
    ASSERT_OK(cudaMemPoolSetAttribute(pool, reuse, &off));
    ASSERT_OK(cudaMemPoolGetAttribute(pool, reuse, &value));
    EXPECT_EQ(value, 0);
  }
  EXPECT_EQ(
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &threshold),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, nullptr),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &value),
      cudaErrorInvalidValue);
}

TEST_F(Pools, LetOtherDevicesInWhenTold) {
  cudaMemLocation second{cudaMemLocationTypeDevice, 1};
  cudaMemAccessFlags access = cudaMemAccessFlagsProtRead;
  ASSERT_OK(cudaMemPoolGetAccess(&access, pool, &second));
  EXPECT_EQ(access, cudaMemAccessFlagsProtNone);
  cudaMemAccessDesc grant{second, cudaMemAccessFlagsProtReadWrite};
  ASSERT_OK(cudaMemPoolSetAccess(pool, &grant, 1));
  ASSERT_OK(cudaMemPoolGetAccess(&access, pool, &second));
  EXPECT_EQ(access, cudaMemAccessFlagsProtReadWrite);

  int* values = nullptr;
  ASSERT_OK(cudaMallocFromPoolAsync(
      reinterpret_cast<void**>(&values), 4 * sizeof(int), pool, stream));
  ASSERT_OK(cudaMemsetAsync(values, 0, 4 * sizeof(int), stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  ASSERT_OK(cudaSetDevice(1));
  launch_add(values, 6, 4); // a fault without the access
  ASSERT_OK(cudaDeviceSynchronize());
  int last = 0;
  EXPECT_OK(cudaMemcpy(&last, values + 3, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(last, 6);
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaFreeAsync(values, stream));

  cudaMemAccessDesc own{
      {cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtNone};
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &own, 1), cudaErrorInvalidValue);
  grant.location.id = 2;
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &grant, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemPoolSetAccess(pool, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemPoolGetAccess(&access, pool, nullptr), cudaErrorInvalidValue);
}

TEST_F(Pools, KeepWhatIsInUseWhenTrimmed) {
  int* values = nullptr;
  ASSERT_OK(cudaMallocFromPoolAsync(
      reinterpret_cast<void**>(&values), kMegabyte, pool, stream));
  ASSERT_OK(cudaMemsetAsync(values, 0x11, kMegabyte, stream));
  ASSERT_OK(cudaMemPoolTrimTo(pool, 0));
  int first = 0;
  ASSERT_OK(cudaMemcpyAsync(&first, values, 4, cudaMemcpyDefault, stream));
  ASSERT_OK(cudaFreeAsync(values, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(first, 0x11111111);
  EXPECT_EQ(cudaMemPoolTrimTo(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(cudaDeviceGraphMemTrim(2), cudaErrorInvalidDevice);
}

TEST_F(Pools, FreeInTheOrderOfTheStream) {
  Gate gate;
  void* memory = nullptr;
  ASSERT_OK(cudaMallocFromPoolAsync(&memory, kMegabyte, pool, stream));
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaFreeAsync(memory, stream));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), kMegabyte);
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(number(cudaMemPoolAttrUsedMemCurrent, pool), 0u);
  EXPECT_OK(cudaFreeAsync(nullptr, stream));
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
}

TEST_F(Pools, AreMadeForADeviceThatExists) {
  cudaMemPool_t other = nullptr;
  cudaMemPoolProps properties = on_device(2);
  EXPECT_EQ(cudaMemPoolCreate(&other, &properties), cudaErrorInvalidDevice);
  properties = on_device(0);
  properties.allocType = cudaMemAllocationTypeInvalid;
  EXPECT_EQ(cudaMemPoolCreate(&other, &properties), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolCreate(&other, nullptr), cudaErrorInvalidValue);
  void* memory = nullptr;
  EXPECT_EQ(
      cudaMallocFromPoolAsync(&memory, 10, nullptr, stream),
      cudaErrorInvalidValue);
}

TEST_F(Pools, AreDestroyedExceptForTheDefaultOne) {
  cudaMemPool_t normal = nullptr;
  cudaMemPool_t other = nullptr;
  cudaMemPool_t current = nullptr;
  const cudaMemPoolProps properties = on_device(0);
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&normal, 0));
  EXPECT_EQ(cudaMemPoolDestroy(normal), cudaErrorInvalidValue);
  ASSERT_OK(cudaMemPoolCreate(&other, &properties));
  ASSERT_OK(cudaDeviceSetMemPool(0, other));
  void* memory = nullptr;
  ASSERT_OK(cudaMallocAsync(&memory, kMegabyte, stream));
  // The device goes back to its default; what was allocated stays.
  ASSERT_OK(cudaMemPoolDestroy(other));
  ASSERT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT_EQ(current, normal);
  EXPECT_OK(cudaMemsetAsync(memory, 0, kMegabyte, stream));
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_EQ(cudaMemPoolDestroy(other), cudaErrorInvalidValue);
}

} // namespace
} // namespace accelerator::cudart::testing
