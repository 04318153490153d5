// How many blocks fit on a multiprocessor, and which size of block is best.
#include <cstddef>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

class Occupancy : public KernelTest {
 protected:
  int blocks_of(CUfunction function, int threads, std::size_t bytes) {
    int blocks = -1;
    EXPECT_EQ(
        cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, threads, bytes),
        CUDA_SUCCESS);
    return blocks;
  }
  /// What the function has to choose, found by trying all
  /// numbers of warps.
  /// @param most threads that a block may have.
  template <typename Bytes>
  void expect_best(CUfunction function, int limit, int most, Bytes bytes_of) {
    CUoccupancyB2DSize callback = bytes_of;
    int grid = -1;
    int block = -1;
    ASSERT_EQ(
        cuOccupancyMaxPotentialBlockSize(
            &grid, &block, function, callback, 0, limit),
        CUDA_SUCCESS);
    const auto resident = [&](int threads) {
      return threads * blocks_of(function, threads, bytes_of(threads));
    };
    for (int threads = 32; threads <= most; threads += 32) {
      EXPECT_LE(resident(threads), resident(block)) << threads;
      if (threads > block) {
        EXPECT_LT(resident(threads), resident(block)) << threads;
      }
    }
    int multiprocessors = 0;
    ASSERT_EQ(
        cuDeviceGetAttribute(
            &multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
        CUDA_SUCCESS);
    EXPECT_EQ(
        grid, multiprocessors * blocks_of(function, block, bytes_of(block)));
  }

  CUfunction store = kernel("store");
  CUfunction bounded = kernel("bounded");
};

std::size_t none(int) {
  return 0;
}
std::size_t hundred_a_thread(int threads) {
  return static_cast<std::size_t>(threads) * 100;
}
std::size_t much(int) {
  return std::size_t{1} << 40;
}

TEST_F(Occupancy, BestSizeOfABlockHasMostThreadsResident) {
  expect_best(store, 0, 1024, none);
  expect_best(store, 0, 1024, hundred_a_thread);
  expect_best(store, 640, 640, none);
  expect_best(store, 5000, 1024, none);
  expect_best(bounded, 0, 64, none);
  expect_best(bounded, 50, 32, none); // a rest of a warp gains nothing
}

TEST_F(Occupancy, BestSizeOfABlockKeepsToItsLimit) {
  int grid = -1;
  int block = -1;
  const auto best = [&](CUfunction function, std::size_t bytes, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(
        &grid, &block, function, nullptr, bytes, limit, 0);
  };
  EXPECT_EQ(best(store, 0, 20), CUDA_SUCCESS);
  EXPECT_EQ(block, 20);
  EXPECT_EQ(best(bounded, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(block, 64);
  const int unlimited = grid;
  EXPECT_EQ(best(bounded, 40000, 0), CUDA_SUCCESS);
  EXPECT_LT(grid, unlimited); // the second way to say how much shared memory
  EXPECT_EQ(
      cuOccupancyMaxPotentialBlockSize(&grid, &block, store, much, 0, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(grid, 0); // not one fits
  EXPECT_EQ(block, 0);
  EXPECT_EQ(best(store, 0, -1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(best(nullptr, 0, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuOccupancyMaxPotentialBlockSizeWithFlags(
          nullptr, &block, store, nullptr, 0, 0, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuOccupancyMaxPotentialBlockSizeWithFlags(
          &grid, nullptr, store, nullptr, 0, 0, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuOccupancyMaxPotentialBlockSizeWithFlags(
          &grid, &block, store, nullptr, 0, 0, 0x80),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Occupancy, SharedMemoryThatIsLeftLetsThatManyBlocksFit) {
  for (const int wanted : {1, 2, 5, 16}) {
    std::size_t most = 0;
    ASSERT_EQ(
        cuOccupancyAvailableDynamicSMemPerBlock(&most, bounded, wanted, 32),
        CUDA_SUCCESS);
    EXPECT_GT(most, 0u);
    EXPECT_GE(blocks_of(bounded, 32, most), wanted);
    EXPECT_LT(blocks_of(bounded, 32, most + 1), wanted);
  }
  std::size_t most = 0;
  EXPECT_EQ(
      cuOccupancyAvailableDynamicSMemPerBlock(&most, bounded, 1000, 32),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuOccupancyAvailableDynamicSMemPerBlock(nullptr, bounded, 1, 32),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Occupancy, IsBoundByThreadsAndSharedMemory) {
  int blocks = -1, most_threads = 0, most_blocks = 0, shared = 0;
  ASSERT_EQ(
      cuDeviceGetAttribute(
          &most_threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuDeviceGetAttribute(
          &most_blocks, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuDeviceGetAttribute(
          &shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0),
      CUDA_SUCCESS);
  const auto occupancy = [&](CUfunction function, int threads, int bytes) {
    EXPECT_EQ(
        cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, threads, bytes),
        CUDA_SUCCESS);
    return blocks;
  };
  EXPECT_EQ(occupancy(store, 1024, 0), most_threads / 1024);
  EXPECT_EQ(occupancy(store, 32, 0), most_blocks);
  EXPECT_LE(occupancy(store, 32, 40000) * 40000, shared);
  EXPECT_EQ(blocks, shared / (40000 + 1024)); // 1 KiB is the system's
  EXPECT_EQ(occupancy(store, 32, 60000), 0); // has to be allowed first
  EXPECT_EQ(occupancy(store, 1025, 0), 0);
  EXPECT_EQ(
      cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
          &blocks, store, 1024, 0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE),
      CUDA_SUCCESS);
  EXPECT_EQ(blocks, most_threads / 1024);
  EXPECT_EQ(
      cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 0, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, store, 32, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
          &blocks, store, 32, 0, 0x80),
      CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::driver::testing
