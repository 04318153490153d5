// Sums of blocks of numbers, by the runtime alone: shared memory, barriers,
// atomics, streams, events, errors.

#include <cuda_runtime.h>

__global__ void block_sums(
    const int* numbers,
    int* sums,
    int* total,
    int size) {
  __shared__ int parts[64];
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  parts[threadIdx.x] = index < size ? numbers[index] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = parts[0];
    atomicAdd(total, parts[0]);
  }
}

#define RETURN_ERROR(call)            \
  do {                                \
    const cudaError_t error = (call); \
    if (error != cudaSuccess) {       \
      return error;                   \
    }                                 \
  } while (0)

// The sums of blocks of 64 numbers, and the sum of all behind them.
extern "C" int sums_of_blocks(const int* numbers, int size, int* results) {
  const int blocks = (size + 63) / 64;
  int *from = nullptr, *to = nullptr;
  cudaStream_t stream;
  cudaEvent_t begin, end;
  RETURN_ERROR(cudaMalloc((void**)&from, size * sizeof(int)));
  RETURN_ERROR(cudaMalloc((void**)&to, (blocks + 1) * sizeof(int)));
  RETURN_ERROR(cudaStreamCreate(&stream));
  RETURN_ERROR(cudaEventCreate(&begin));
  RETURN_ERROR(cudaEventCreate(&end));
  RETURN_ERROR(cudaMemsetAsync(to, 0, (blocks + 1) * sizeof(int), stream));
  RETURN_ERROR(cudaMemcpyAsync(
      from, numbers, size * sizeof(int), cudaMemcpyHostToDevice, stream));
  RETURN_ERROR(cudaEventRecord(begin, stream));
  block_sums<<<blocks, 64, 0, stream>>>(from, to, to + blocks, size);
  RETURN_ERROR(cudaGetLastError());
  RETURN_ERROR(cudaEventRecord(end, stream));
  RETURN_ERROR(cudaMemcpyAsync(
      results, to, (blocks + 1) * sizeof(int), cudaMemcpyDeviceToHost, stream));
  RETURN_ERROR(cudaStreamSynchronize(stream));
  float milliseconds = -1;
  RETURN_ERROR(cudaEventElapsedTime(&milliseconds, begin, end));
  RETURN_ERROR(cudaEventDestroy(begin));
  RETURN_ERROR(cudaEventDestroy(end));
  RETURN_ERROR(cudaStreamDestroy(stream));
  RETURN_ERROR(cudaFree(from));
  RETURN_ERROR(cudaFree(to));
  return milliseconds >= 0 ? cudaSuccess : cudaErrorUnknown;
}

__global__ void nothing() {}

// What a launch with blocks of so many threads answers.
extern "C" const char* launch(int threads) {
  nothing<<<1, threads>>>();
  return cudaGetErrorName(cudaGetLastError());
}

// What two calls that are wrong answer.
extern "C" const char* free_twice() {
  void* memory = nullptr;
  cudaMalloc(&memory, 8);
  cudaFree(memory);
  return cudaGetErrorName(cudaFree(memory));
}
