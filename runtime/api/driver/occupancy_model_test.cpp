// Occupancy as NVIDIA's own model has it, the header cuda_occupancy.h, for
// drawn kernels, blocks and amounts of shared memory, on each GPU model
// (BUILD.bazel).
#include <cuda_occupancy.h>

#include <cstddef>
#include <random>
#include <sstream>
#include <string>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

int device_attribute(CUdevice_attribute attribute) {
  int value = -1;
  EXPECT_EQ(cuDeviceGetAttribute(&value, attribute, 0), CUDA_SUCCESS);
  return value;
}

std::size_t device_bytes(CUdevice_attribute attribute) {
  return static_cast<std::size_t>(device_attribute(attribute));
}

cudaOccDeviceProp device_properties() {
  cudaOccDeviceProp p;
  p.computeMajor =
      device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  p.computeMinor =
      device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  p.maxThreadsPerBlock =
      device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  p.maxThreadsPerMultiprocessor =
      device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p.regsPerBlock =
      device_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p.regsPerMultiprocessor =
      device_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p.warpSize = device_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  p.sharedMemPerBlock =
      device_bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  p.sharedMemPerMultiprocessor =
      device_bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  p.numSms = device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.sharedMemPerBlockOptin =
      device_bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  p.reservedSharedMemPerBlock =
      device_bytes(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return p;
}

int attribute_of(CUfunction function, CUfunction_attribute attribute) {
  int value = -1;
  EXPECT_EQ(cuFuncGetAttribute(&value, attribute, function), CUDA_SUCCESS);
  return value;
}

cudaOccFuncAttributes attributes_of(CUfunction function) {
  cudaOccFuncAttributes a;
  a.maxThreadsPerBlock =
      attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  a.numRegs = attribute_of(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  a.sharedSizeBytes = static_cast<std::size_t>(
      attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  a.maxDynamicSharedSizeBytes = static_cast<std::size_t>(
      attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  a.numBlockBarriers = 1; // as the header takes it of cudaFuncAttributes
  return a;
}

/// A kernel that holds `values` numbers at a time.
std::string make_kernel(int values, int shared_bytes, int most_threads) {
  std::ostringstream text;
  text << ".version 7.0\n.target sm_80\n.address_size 64\n"
       << ".visible .entry drawn(.param .u64 place)\n"
       << ".maxntid " << most_threads << ", 1, 1\n{\n"
       << ".reg .b64 %rd;\n.reg .b32 %r<" << values << ">;\n";
  if (shared_bytes > 0) {
    text << ".shared .align 4 .b8 room[" << shared_bytes << "];\n";
  }
  text << "ld.param.u64 %rd, [place];\n";
  for (int i = 0; i < values; ++i) {
    text << "ld.global.u32 %r" << i << ", [%rd+" << 4 * i << "];\n";
  }
  for (int i = values - 1; i >= 0; --i) {
    text << "st.global.u32 [%rd+" << 4 * i << "], %r" << i << ";\n";
  }
  text << "ret;\n}\n";
  return text.str();
}

/// Shared memory by the threads of a block, as both ask for it.
std::size_t four_a_thread(int threads) {
  return static_cast<std::size_t>(threads) * 4;
}
std::size_t ninety_a_thread(int threads) {
  return static_cast<std::size_t>(threads) * 90;
}

class OccupancyModel : public ContextTest {
 protected:
  int draw(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  }
  /// More often what is near an edge.
  int draw_threads() {
    return draw(0, 1) != 0 ? 32 * draw(1, 32) : draw(1, 1024);
  }
  int draw_bytes(int most) {
    switch (draw(0, 3)) {
      case 0:
        return 0;
      case 1:
        return draw(0, most);
      case 2:
        return draw(0, most / 1024) * 1024;
      default:
        return draw(0, most < 300 ? most : 300);
    }
  }

  void expect_model(CUfunction function) {
    const cudaOccFuncAttributes a = attributes_of(function);
    const int threads = draw_threads();
    const auto dynamic = static_cast<std::size_t>(draw_bytes(170000));
    cudaOccResult expected;
    ASSERT_EQ(
        cudaOccMaxActiveBlocksPerMultiprocessor(
            &expected, &p, &a, &state, threads, dynamic),
        CUDA_OCC_SUCCESS);
    int blocks = -1;
    ASSERT_EQ(
        cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, threads, dynamic),
        CUDA_SUCCESS);
    const int fitting = expected.activeBlocksPerMultiprocessor;
    EXPECT_EQ(blocks, fitting) << threads << " threads, " << dynamic;

    const int wanted = draw(1, 33);
    std::size_t most = 0;
    const cudaOccError known = cudaOccAvailableDynamicSMemPerBlock(
        &most, &p, &a, &state, wanted, threads);
    std::size_t available = 0;
    EXPECT_EQ(
        cuOccupancyAvailableDynamicSMemPerBlock(
            &available, function, wanted, threads),
        known == CUDA_OCC_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
        << wanted << " of " << threads << " threads";
    EXPECT_EQ(available, most) << wanted << " of " << threads << " threads";

    using BytesOf = std::size_t (*)(int);
    for (const BytesOf of :
         {BytesOf{nullptr},
          BytesOf{&four_a_thread},
          BytesOf{&ninety_a_thread}}) {
      int grid = 0;
      int block = 0;
      ASSERT_EQ(
          cudaOccMaxPotentialOccupancyBlockSize(
              &grid, &block, &p, &a, &state, of, dynamic),
          CUDA_OCC_SUCCESS);
      int our_grid = -1;
      int our_block = -1;
      ASSERT_EQ(
          cuOccupancyMaxPotentialBlockSize(
              &our_grid, &our_block, function, of, dynamic, 0),
          CUDA_SUCCESS);
      EXPECT_EQ(our_grid, grid) << dynamic;
      EXPECT_EQ(our_block, block) << dynamic;
    }
    several += fitting > 1 ? 1 : 0;
    none += fitting == 0 ? 1 : 0;
    by_registers +=
        fitting == expected.blockLimitRegs && fitting < expected.blockLimitWarps
        ? 1
        : 0;
    unavailable += known == CUDA_OCC_SUCCESS ? 0 : 1;
  }

  const cudaOccDeviceProp p = device_properties();
  cudaOccDeviceState state;
  std::mt19937 random{8};
  int several = 0;
  int none = 0;
  int by_registers = 0;
  int unavailable = 0;
};

TEST_F(OccupancyModel, IsNvidias) {
  const int optin = static_cast<int>(p.sharedMemPerBlockOptin);
  for (int kernel = 0; kernel < 60; ++kernel) {
    const int values = draw(1, 200);
    const int shared = draw_bytes(40000);
    const int most_threads = draw_threads();
    SCOPED_TRACE(
        "kernel " + std::to_string(kernel) + ": " + std::to_string(values) +
        " values, " + std::to_string(shared) + " bytes, at most " +
        std::to_string(most_threads) + " threads");
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_EQ(
        cuModuleLoadData(
            &module, make_kernel(values, shared, most_threads).c_str()),
        CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function, module, "drawn"), CUDA_SUCCESS);
    expect_model(function);
    for (int setting = 0; setting < 6; ++setting) {
      ASSERT_EQ(
          cuFuncSetAttribute(
              function,
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              draw_bytes(optin - shared)),
          CUDA_SUCCESS);
      state.carveoutConfig = setting < 3 ? -1 : draw(0, 100);
      ASSERT_EQ(
          cuFuncSetAttribute(
              function,
              CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
              state.carveoutConfig),
          CUDA_SUCCESS);
      expect_model(function);
    }
    state.carveoutConfig = -1;
    ASSERT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
  // What was drawn reaches each limit.
  EXPECT_GT(several, 20);
  EXPECT_GT(none, 20);
  EXPECT_GT(by_registers, 10);
  EXPECT_GT(unavailable, 20);
}

} // namespace
} // namespace accelerator::driver::testing
