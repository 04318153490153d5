// A histogram with atomics on shared memory, added up with atomics on global
// memory.
#include "tests/cuda_programs/check.h"

constexpr int kBins = 64;

__global__ void count(const unsigned char* values, int size, unsigned* bins) {
  __shared__ unsigned own[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) {
    own[i] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size;
       i += gridDim.x * blockDim.x) {
    atomicAdd(&own[values[i] % kBins], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) {
    atomicAdd(&bins[i], own[i]);
  }
}

int main() {
  std::vector<unsigned char> values(50021);
  std::vector<unsigned> expected(kBins);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<unsigned char>(i * i * 2654435761u >> 13);
    ++expected[values[i] % kBins];
  }
  unsigned* bins = to_device(std::vector<unsigned>(kBins));
  count<<<9, 96>>>(to_device(values), static_cast<int>(values.size()), bins);
  const std::vector<unsigned> found = to_host(bins, kBins);
  for (int i = 0; i < kBins; ++i) {
    expect_equal("bin", i, found[i], expected[i]);
  }
}
