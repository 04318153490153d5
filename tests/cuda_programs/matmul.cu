// A matrix product with tiles in shared memory, sizes that tiles do not divide.
#include "tests/cuda_programs/check.h"

constexpr int kTile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile];
  __shared__ float right[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < n; start += kTile) {
    const int k = start + threadIdx.x;
    const int l = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < n && k < n ? a[row * n + k] : 0;
    right[threadIdx.y][threadIdx.x] =
        l < n && column < n ? b[l * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < n && column < n) {
    c[row * n + column] = sum;
  }
}

int main() {
  for (const int n : {1, 16, 33, 70}) {
    // Small integers: sums are exact.
    std::vector<float> a(n * n);
    std::vector<float> b(n * n);
    for (int i = 0; i < n * n; ++i) {
      a[i] = static_cast<float>(i % 7 - 3);
      b[i] = static_cast<float>(i % 5 - 2);
    }
    float* c = to_device(std::vector<float>(n * n));
    const unsigned blocks = (n + kTile - 1) / kTile;
    multiply<<<dim3(blocks, blocks), dim3(kTile, kTile)>>>(
        to_device(a), to_device(b), c, n);
    const std::vector<float> found = to_host(c, n * n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        float expected = 0;
        for (int k = 0; k < n; ++k) {
          expected += a[i * n + k] * b[k * n + j];
        }
        expect_equal("product", i * n + j, found[i * n + j], expected);
      }
    }
  }
}
