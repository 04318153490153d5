// Cooperative groups: tiles, reductions, scans, and groups made at run time.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <algorithm>
#include <cuda/atomic>

#include "tests/cuda_programs/check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 96;

struct Results {
  int tile_sums[kThreads];
  float tile_largest[kThreads];
  int before[kThreads];
  int up_to[kThreads];
  int branch_sizes[kThreads];
  int branch_sums[kThreads];
  int parity_sums[kThreads];
  unsigned long long labels[kThreads]; // size * 100 + rank
  int shuffled[kThreads];
  int block_sum;
  int flags;
  int warps_with_odd;
};

__global__ void use_groups(const int* values, Results* results, int* total) {
  const cg::thread_block block = cg::this_thread_block();
  const int i = block.thread_rank();
  const int mine = values[i];

  const auto tile = cg::tiled_partition<8>(block);
  results->tile_sums[i] = cg::reduce(tile, mine, cg::plus<int>());
  results->tile_largest[i] =
      cg::reduce(tile, mine * 0.5f, cg::greater<float>());
  results->shuffled[i] = tile.shfl(mine, (tile.thread_rank() + 3) % 8);

  const auto warp = cg::tiled_partition<32>(block);
  results->before[i] = cg::exclusive_scan(warp, mine);
  results->up_to[i] = cg::inclusive_scan(warp, mine, cg::plus<int>());

  if (mine % 3 == 0) {
    const cg::coalesced_group together = cg::coalesced_threads();
    results->branch_sizes[i] = together.size();
    results->branch_sums[i] = cg::reduce(together, mine, cg::plus<int>());
    if (together.thread_rank() == 0) {
      atomicAdd(&results->flags, static_cast<int>(together.size()));
    }
  }
  const auto parity = cg::binary_partition(warp, mine % 2 == 1);
  results->parity_sums[i] = cg::reduce(parity, mine, cg::plus<int>());
  const auto labels = cg::labeled_partition(warp, mine % 4);
  results->labels[i] = labels.size() * 100 + labels.thread_rank();

  cg::reduce_update_async(
      tile,
      *reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device>*>(total),
      mine,
      cg::plus<int>());
  if (warp.any(mine % 2 == 1) && warp.thread_rank() == 0) {
    atomicAdd(&results->warps_with_odd, 1);
  }
  __shared__ int sum;
  if (i == 0) {
    sum = 0;
  }
  block.sync();
  cg::invoke_one(tile, [&] { atomicAdd(&sum, 1); });
  block.sync();
  if (i == 0) {
    results->block_sum = sum;
  }
}

constexpr int kLargeTile = 64;
constexpr int kLargeBlock = 256;

struct LargeTileResults {
  int sums[kLargeBlock];
  int ranks[kLargeBlock]; // tile * kLargeTile + rank in it
  int neighbours[kLargeBlock];
  int any[kLargeBlock];
};

// Tiles of more than a warp: their warps meet in shared memory that the device
// reserves.
__global__ void use_large_tiles(const int* values, LargeTileResults* results) {
  __shared__ cg::block_tile_memory<kLargeBlock> memory;
  __shared__ int copy[kLargeBlock];
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<kLargeTile>(block);
  const int i = block.thread_rank();
  const int rank = tile.thread_rank();
  results->ranks[i] = tile.meta_group_rank() * kLargeTile + rank;
  results->sums[i] = cg::reduce(tile, values[i], cg::plus<int>());
  results->any[i] = tile.any(values[i] > 95);
  // Tiles get on by themselves: each waits for its own threads only.
  for (unsigned int round = 0; round <= tile.meta_group_rank(); ++round) {
    copy[i] = values[i] + round;
    tile.sync();
    results->neighbours[i] = copy[i - rank + (rank + 40) % kLargeTile];
    tile.sync();
  }
}

void check_large_tiles() {
  std::vector<int> values(kLargeBlock);
  for (int i = 0; i < kLargeBlock; ++i) {
    values[i] = i * 53 % 97;
  }
  LargeTileResults* results = to_device(std::vector<LargeTileResults>(1));
  use_large_tiles<<<1, kLargeBlock>>>(to_device(values), results);
  CHECK_CUDA(cudaGetLastError());
  const LargeTileResults found = to_host(results, 1)[0];
  for (int i = 0; i < kLargeBlock; ++i) {
    const int first = i / kLargeTile * kLargeTile;
    int sum = 0;
    bool any = false;
    for (int j = first; j < first + kLargeTile; ++j) {
      sum += values[j];
      any |= values[j] > 95;
    }
    expect_equal("large rank", i, found.ranks[i], i);
    expect_equal("large sum", i, found.sums[i], sum);
    expect_equal("large any", i, found.any[i], static_cast<int>(any));
    expect_equal(
        "neighbour",
        i,
        found.neighbours[i],
        values[first + (i + 40) % kLargeTile] + i / kLargeTile);
  }
}

int main() {
  check_large_tiles();
  std::vector<int> values(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    values[i] = i * 37 % 101;
  }
  int* device_values = to_device(values);
  Results* results = to_device(std::vector<Results>(1));
  int* total = to_device(std::vector<int>{0});
  use_groups<<<1, kThreads>>>(device_values, results, total);
  CHECK_CUDA(cudaGetLastError());
  const Results found = to_host(results, 1)[0];
  int sum = 0;
  int multiples = 0;
  for (int i = 0; i < kThreads; ++i) {
    const int mine = values[i];
    sum += mine;
    multiples += mine % 3 == 0;
    int tile_sum = 0;
    int largest = 0;
    for (int j = i / 8 * 8; j < i / 8 * 8 + 8; ++j) {
      tile_sum += values[j];
      largest = std::max(largest, values[j]);
    }
    expect_equal("tile sum", i, found.tile_sums[i], tile_sum);
    expect_equal("largest", i, found.tile_largest[i], largest * 0.5f);
    expect_equal(
        "shuffled", i, found.shuffled[i], values[i / 8 * 8 + (i + 3) % 8]);
    int before = 0;
    int threes = 0;
    int sum_of_threes = 0;
    int same_parity = 0;
    int same_label = 0;
    int rank = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      before += j < i ? values[j] : 0;
      threes += values[j] % 3 == 0;
      sum_of_threes += values[j] % 3 == 0 ? values[j] : 0;
      same_parity += values[j] % 2 == mine % 2 ? values[j] : 0;
      same_label += values[j] % 4 == mine % 4;
      rank += j < i && values[j] % 4 == mine % 4;
    }
    expect_equal("before", i, found.before[i], before);
    expect_equal("up to", i, found.up_to[i], before + mine);
    if (mine % 3 == 0) {
      expect_equal("branch size", i, found.branch_sizes[i], threes);
      expect_equal("branch sum", i, found.branch_sums[i], sum_of_threes);
    }
    expect_equal("parity", i, found.parity_sums[i], same_parity);
    expect_equal("label", i, found.labels[i], 100ull * same_label + rank);
  }
  expect_equal("flags", 0, found.flags, multiples);
  expect_equal("tiles", 0, found.block_sum, kThreads / 8);
  expect_equal("odd", 0, found.warps_with_odd, 3);
  expect_equal("total", 0, to_host(total, 1)[0], sum);
}
