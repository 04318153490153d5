#include "runtime/api/cudart/testing/kernels.h"

#include <cooperative_groups.h>

#include <cstdio>

namespace accelerator::cudart::testing {
namespace {

__constant__ int table[kTableSize] = {10, 20, 30, 40};
__device__ int offset = 5;
__managed__ int managed = 7;

} // namespace

__global__ void add(int* values, int amount, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] += amount;
  }
}

__global__ void reverse(int* values) {
  extern __shared__ int staged[];
  staged[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

__global__ void look_up(int* values) {
  values[threadIdx.x] = table[threadIdx.x % kTableSize] + offset;
}

__global__ void bump_managed() {
  ++managed;
}

__global__ void __launch_bounds__(kMostThreads) bounded(int* values) {
  __shared__ int own[kStaticInts];
  own[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = own[kMostThreads - 1 - threadIdx.x];
}

__global__ void rotate(int* values, int* copy) {
  const auto grid = cooperative_groups::this_grid();
  const auto i = static_cast<unsigned>(grid.thread_rank());
  const auto size = static_cast<unsigned>(grid.size());
  copy[i] = values[i];
  grid.sync();
  values[i] = copy[(i + 1) % size];
}

__global__ void write_to(int* address) {
  *address = 1;
}

__global__ void compute(float* values) {
  values[0] = values[0] * values[1];
  values[2] = values[2] + values[3];
}

__global__ void take(void** pointers, unsigned long long bytes) {
  pointers[threadIdx.x] = malloc(bytes);
}

__global__ void write_behind(void** pointers) {
  *static_cast<int*>(pointers[0]) = 1;
}

__global__ void print_shared(int* result) {
  __shared__ char text[8];
  if (threadIdx.x == 0) {
    text[0] = 'h';
    text[1] = 'i';
    text[2] = '\0';
    *result = printf("%d %s!\n", 5, text);
  }
}

__global__ void meet(int* values) {
  __shared__ volatile int shared;
  const int lane = threadIdx.x;
  int read = 0;
  shared = 7;
  __syncwarp();
  if (lane < 16) {
    __syncwarp();
    read = shared;
  }
  if (lane >= 16) {
    if (lane == 16) {
      shared = 42;
    }
    __syncwarp();
  }
  values[lane] = read;
}

__global__ void trap() {
  __trap();
}

const void* table_symbol() {
  return table;
}

const void* offset_symbol() {
  return &offset;
}

int* managed_variable() {
  return &managed;
}

void launch_add(int* values, int amount, int count) {
  add<<<(count + 31) / 32, 32>>>(values, amount, count);
}

} // namespace accelerator::cudart::testing
