// How many blocks of a kernel fit on a multiprocessor, and which size of block
// to choose. Source: CUDA driver API, occupancy.
#include "runtime/api/driver/call.h"
#include "runtime/core/modules/module.h"
#include "runtime/core/modules/occupancy.h"

using namespace accelerator::runtime;
using accelerator::driver::call;
using accelerator::driver::current_context;

namespace {

void check_occupancy_flags(unsigned flags) {
  require((flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) == 0);
}

} // namespace

extern "C" {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks,
    CUfunction function,
    int threads,
    size_t shared_bytes,
    unsigned flags) {
  return call([&] {
    Device& device = current_context();
    check_occupancy_flags(flags);
    require(threads > 0);
    store(
        blocks,
        max_active_blocks(
            *machine().functions().get(function),
            device,
            threads,
            shared_bytes));
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks,
    CUfunction function,
    int threads,
    size_t shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, function, threads, shared_bytes, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(
    size_t* shared_bytes,
    CUfunction function,
    int blocks,
    int threads) {
  return call([&] {
    Device& device = current_context();
    store(
        shared_bytes,
        available_shared_bytes(
            *machine().functions().get(function), device, blocks, threads));
  });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int* grid,
    int* block,
    CUfunction function,
    CUoccupancyB2DSize shared_bytes_of,
    size_t shared_bytes,
    int limit,
    unsigned flags) {
  return call([&] {
    Device& device = current_context();
    check_occupancy_flags(flags);
    require(grid != nullptr && block != nullptr && limit >= 0);
    const auto kernel = machine().functions().get(function);
    const LaunchSize best =
        best_launch_size(*kernel, device, limit, [&](int n) {
          return shared_bytes_of != nullptr ? shared_bytes_of(n) : shared_bytes;
        });
    *grid = best.blocks;
    *block = best.threads;
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(
    int* grid,
    int* block,
    CUfunction function,
    CUoccupancyB2DSize shared_bytes_of,
    size_t shared_bytes,
    int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(
      grid, block, function, shared_bytes_of, shared_bytes, limit, 0);
}

} // extern "C"
