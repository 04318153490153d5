// A cooperative launch: all blocks wait for each other twice.
#include <cooperative_groups.h>

#include "tests/cuda_programs/check.h"

__global__ void rotate(int* values, int* copy) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const auto i = static_cast<unsigned>(grid.thread_rank());
  const auto size = static_cast<unsigned>(grid.size());
  copy[i] = values[i];
  grid.sync();
  values[i] = copy[(i + 1) % size];
  grid.sync();
  copy[i] = values[(i + 1) % size];
}

int main() {
  constexpr int kBlocks = 8;
  constexpr int kThreads = 64;
  constexpr int kSize = kBlocks * kThreads;
  std::vector<int> numbers(kSize);
  for (int i = 0; i < kSize; ++i) {
    numbers[i] = i;
  }
  int* values = to_device(numbers);
  int* copy = to_device(std::vector<int>(kSize));
  void* arguments[] = {&values, &copy};
  CHECK_CUDA(cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(rotate), kBlocks, kThreads, arguments));
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<int> found = to_host(copy, kSize);
  for (int i = 0; i < kSize; ++i) {
    expect_equal("rotated", i, found[i], (i + 2) % kSize);
  }
}
