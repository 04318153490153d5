// A sum with shuffles within warps and shared memory between them.
#include "tests/cuda_programs/check.h"

__global__ void sum(const int* values, int count, int* result) {
  __shared__ int partial[32];
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    mine += values[i];
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    mine += __shfl_down_sync(0xffffffffu, mine, apart);
  }
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = mine;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int apart = 16; apart > 0; apart /= 2) {
      mine += __shfl_xor_sync(0xffffffffu, mine, apart);
    }
    if (threadIdx.x == 0) {
      atomicAdd(result, mine);
    }
  }
}

int main() {
  for (const int count : {1, 31, 32, 1000, 100003}) {
    std::vector<int> values(count);
    int expected = 0;
    for (int i = 0; i < count; ++i) {
      values[i] = i % 17 - 5;
      expected += values[i];
    }
    int* result = to_device(std::vector<int>{0});
    sum<<<7, 256>>>(to_device(values), count, result);
    CHECK_CUDA(cudaGetLastError());
    expect_equal("sum", count, to_host(result, 1)[0], expected);
  }
}
