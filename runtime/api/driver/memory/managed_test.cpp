// Managed memory: what was said of a range, as the driver's documentation has
// it.
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = 4 * kPage;

class ManagedRange : public ContextTest {
 protected:
  ManagedRange() {
    EXPECT_EQ(
        cuMemAllocManaged(&memory, kBytes, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  }
  ~ManagedRange() override {
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  }

  int ask(
      CUmem_range_attribute attribute,
      std::size_t offset = 0,
      std::size_t bytes = kBytes) const {
    int value = -99;
    EXPECT_EQ(
        cuMemRangeGetAttribute(
            &value, sizeof(value), attribute, memory + offset, bytes),
        CUDA_SUCCESS);
    return value;
  }
  std::vector<int> accessed_by(std::size_t places) const {
    std::vector<int> devices(places, -99);
    EXPECT_EQ(
        cuMemRangeGetAttribute(
            devices.data(),
            places * sizeof(int),
            CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
            memory,
            kBytes),
        CUDA_SUCCESS);
    return devices;
  }

  CUdeviceptr memory = 0;
};

TEST_F(ManagedRange, HasNoAdviceAtFirst) {
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
  EXPECT_EQ(
      ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_INVALID);
  EXPECT_EQ(
      ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
      CU_MEM_LOCATION_TYPE_INVALID);
  EXPECT_EQ(accessed_by(2), (std::vector<int>{-2, -2}));
}

TEST_F(ManagedRange, IsReadMostlyWhereAllOfItIs) {
  constexpr auto kMostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  ASSERT_EQ(
      cuMemAdvise(memory + kPage, kPage, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(ask(kMostly), 0);
  EXPECT_EQ(ask(kMostly, kPage, kPage), 1);
  EXPECT_EQ(ask(kMostly, kPage, kPage + 1), 0);
  EXPECT_EQ(ask(kMostly, 2 * kPage, kPage), 0);
  ASSERT_EQ(
      cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(ask(kMostly), 1);
  ASSERT_EQ(
      cuMemAdvise(
          memory + 3 * kPage, kPage, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(ask(kMostly), 0);
  EXPECT_EQ(ask(kMostly, 0, 3 * kPage), 1);
}

TEST_F(ManagedRange, PrefersOnePlace) {
  constexpr auto kPlace = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
  constexpr auto kType = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE;
  constexpr auto kId = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID;
  constexpr auto kSet = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
  ASSERT_EQ(cuMemAdvise(memory, kBytes, kSet, 1), CUDA_SUCCESS);
  EXPECT_EQ(ask(kPlace), 1);
  EXPECT_EQ(ask(kType), CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(ask(kId), 1);
  ASSERT_EQ(
      cuMemAdvise_v2(memory, kPage, kSet, {CU_MEM_LOCATION_TYPE_HOST, 7}),
      CUDA_SUCCESS);
  EXPECT_EQ(ask(kPlace, 0, kPage), CU_DEVICE_CPU);
  EXPECT_EQ(ask(kType, 0, kPage), CU_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(ask(kPlace), CU_DEVICE_INVALID); // two places
  EXPECT_EQ(ask(kType), CU_MEM_LOCATION_TYPE_INVALID);
  ASSERT_EQ(
      cuMemAdvise(
          memory,
          kBytes,
          CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
          CU_DEVICE_CPU),
      CUDA_SUCCESS);
  EXPECT_EQ(ask(kPlace, 0, kPage), CU_DEVICE_INVALID);
  EXPECT_EQ(cuMemAdvise(memory, kBytes, kSet, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemAdvise(memory, kBytes + 1, kSet, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ManagedRange, NamesWhoUsesAllOfIt) {
  constexpr auto kSet = CU_MEM_ADVISE_SET_ACCESSED_BY;
  ASSERT_EQ(cuMemAdvise(memory, kBytes, kSet, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAdvise(memory, kPage, kSet, 0), CUDA_SUCCESS);
  EXPECT_EQ(accessed_by(3), (std::vector<int>{1, -2, -2}));
  ASSERT_EQ(cuMemAdvise(memory, kBytes, kSet, 0), CUDA_SUCCESS);
  EXPECT_EQ(accessed_by(3), (std::vector<int>{0, 1, -2}));
  EXPECT_EQ(accessed_by(1).size(), 1u);
  ASSERT_EQ(
      cuMemAdvise(memory, kPage, CU_MEM_ADVISE_UNSET_ACCESSED_BY, 1),
      CUDA_SUCCESS);
  EXPECT_EQ(accessed_by(2), (std::vector<int>{0, -2}));
}

TEST_F(ManagedRange, RemembersWhereItWasPrefetched) {
  constexpr auto kPlace = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  ASSERT_EQ(cuMemPrefetchAsync(memory, kBytes, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(ask(kPlace), 0);
  ASSERT_EQ(
      cuMemPrefetchAsync_v2(
          memory, kPage, {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, 0, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(ask(kPlace, 0, kPage), CU_DEVICE_CPU);
  EXPECT_EQ(
      ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 0, kPage),
      CU_MEM_LOCATION_TYPE_HOST_NUMA);
  EXPECT_EQ(ask(kPlace), CU_DEVICE_INVALID);
  EXPECT_EQ(
      cuMemPrefetchAsync_v2(
          memory, kPage, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, 1, nullptr),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemPrefetchAsync(memory, kPage, 2, nullptr), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(ManagedRange, IsAskedForSeveralAttributesAtOnce) {
  ASSERT_EQ(cuMemPrefetchAsync(memory, kBytes, 1, nullptr), CUDA_SUCCESS);
  int mostly = -99;
  int devices[2] = {-99, -99};
  int prefetched = -99;
  void* data[] = {&mostly, devices, &prefetched};
  std::size_t sizes[] = {4, 8, 4};
  CUmem_range_attribute attributes[] = {
      CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
      CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
      CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION};
  ASSERT_EQ(
      cuMemRangeGetAttributes(data, sizes, attributes, 3, memory, kBytes),
      CUDA_SUCCESS);
  EXPECT_EQ(mostly, 0);
  EXPECT_EQ(devices[0], CU_DEVICE_INVALID);
  EXPECT_EQ(prefetched, 1);
  sizes[0] = 8; // one number has four bytes
  EXPECT_EQ(
      cuMemRangeGetAttributes(data, sizes, attributes, 3, memory, kBytes),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemRangeGetAttributes(data, sizes, attributes, 0, memory, kBytes),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ManagedRange, OfOtherMemoryThereIsNone) {
  const Array<char> array(8);
  int value = 0;
  EXPECT_EQ(
      cuMemRangeGetAttribute(
          &value,
          sizeof(value),
          CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
          array.address(),
          8),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemAdvise(array.address(), 8, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuStreamAttachMemAsync(nullptr, array.address(), 0, CU_MEM_ATTACH_SINGLE),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_SINGLE),
      CUDA_SUCCESS);
}

TEST_F(ManagedRange, IsForgottenWithItsMemory) {
  CUdeviceptr first = 0;
  ASSERT_EQ(
      cuMemAllocManaged(&first, kBytes, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(
      cuMemAdvise(first, kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(first), CUDA_SUCCESS);
  CUdeviceptr second = 0;
  ASSERT_EQ(
      cuMemAllocManaged(&second, kBytes, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  int mostly = -1;
  EXPECT_EQ(
      cuMemRangeGetAttribute(
          &mostly,
          sizeof(mostly),
          CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
          second,
          kBytes),
      CUDA_SUCCESS);
  EXPECT_EQ(mostly, 0);
  EXPECT_EQ(cuMemFree(second), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing
