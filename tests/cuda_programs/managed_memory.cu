// Managed memory: variables, structures with pointers, host and device by
// turns.
#include "tests/cuda_programs/check.h"

__managed__ int counter = 3;
__managed__ float table[8];

struct Matrix {
  int rows;
  int columns;
  double* values;
};

__global__ void scale(Matrix* matrix, double factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < matrix->rows * matrix->columns) {
    matrix->values[i] *= factor;
    atomicAdd(&counter, 1);
  }
  if (i < 8) {
    table[i] += i;
  }
}

int main() {
  Matrix* matrix = nullptr;
  CHECK_CUDA(cudaMallocManaged(&matrix, sizeof(Matrix)));
  matrix->rows = 30;
  matrix->columns = 20;
  CHECK_CUDA(cudaMallocManaged(&matrix->values, 600 * sizeof(double)));
  for (int i = 0; i < 600; ++i) {
    matrix->values[i] = i;
  }
  for (float& entry : table) {
    entry = 0.5f;
  }
  int device = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaMemAdvise(
      matrix->values, 4800, cudaMemAdviseSetPreferredLocation, device));
  CHECK_CUDA(cudaMemPrefetchAsync(matrix->values, 4800, device, nullptr));
  scale<<<5, 128>>>(matrix, 3);
  CHECK_CUDA(cudaDeviceSynchronize());
  matrix->values[7] = 100;
  matrix->rows = 10;
  scale<<<5, 128>>>(matrix, 0.5);
  CHECK_CUDA(
      cudaMemPrefetchAsync(matrix->values, 4800, cudaCpuDeviceId, nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());
  expect_equal("counter", 0, counter, 3 + 600 + 200);
  for (int i = 0; i < 8; ++i) {
    expect_equal("table", i, table[i], 0.5f + 2 * i);
  }
  for (int i = 0; i < 600; ++i) {
    const double tripled = i == 7 ? 100 : 3.0 * i;
    expect_equal(
        "value", i, matrix->values[i], i < 200 ? tripled / 2 : tripled);
  }
  cudaPointerAttributes attributes;
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, matrix));
  expect_equal(
      "type",
      0,
      static_cast<int>(attributes.type),
      static_cast<int>(cudaMemoryTypeManaged));
  // Pinned memory of the host, seen by the device in its own place.
  int* pinned = nullptr;
  int* mapped = nullptr;
  CHECK_CUDA(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
  CHECK_CUDA(cudaHostGetDevicePointer(&mapped, pinned, 0));
  pinned[0] = 4;
  Matrix small{1, 1, reinterpret_cast<double*>(mapped + 2)};
  *reinterpret_cast<double*>(pinned + 2) = 8;
  *matrix = small;
  scale<<<1, 32>>>(matrix, 0.25);
  CHECK_CUDA(cudaDeviceSynchronize());
  expect_equal("pinned", 0, *reinterpret_cast<double*>(pinned + 2), 2.0);
  CHECK_CUDA(cudaFreeHost(pinned));
  CHECK_CUDA(cudaFree(matrix));
}
