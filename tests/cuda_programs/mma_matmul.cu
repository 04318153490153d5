// A matrix product with ldmatrix and mma.sync, fed by cp.async in two stages.
#include <cuda_fp16.h>

#include "tests/cuda_programs/check.h"

constexpr int kTile = 64; // rows and columns of C for a block of four warps
constexpr int kDepth = 32;
constexpr int kPadded = kDepth + 8; // halves in a row, free of conflicts

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_16_bytes(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(
                   shared_address(to)),
               "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
}

// C = A B^T: A is rows x inner, B is columns x inner, C is rows x columns.
__global__ void __launch_bounds__(128) product(
    const half* a,
    const half* b,
    float* c,
    int rows,
    int columns,
    int inner) {
  extern __shared__ half shared[]; // two stages of A and of B
  half* const stages_a = shared;
  half* const stages_b = shared + 2 * kTile * kPadded;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int first_row = blockIdx.y * kTile;
  const int first_column = blockIdx.x * kTile;
  const auto fetch = [&](int stage, int k) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += blockDim.x) {
      const int row = i / (kDepth / 8);
      const int part = i % (kDepth / 8) * 8;
      const int place = (stage * kTile + row) * kPadded + part;
      const bool in_a = first_row + row < rows;
      const bool in_b = first_column + row < columns;
      copy_16_bytes(
          stages_a + place,
          a + (in_a ? (first_row + row) * inner + k + part : 0),
          in_a);
      copy_16_bytes(
          stages_b + place,
          b + (in_b ? (first_column + row) * inner + k + part : 0),
          in_b);
    }
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  };
  float sums[8][4] = {};
  fetch(0, 0);
  for (int k = 0; k < inner; k += kDepth) {
    const int stage = k / kDepth % 2;
    if (k + kDepth < inner) {
      fetch(1 - stage, k + kDepth);
      asm volatile("cp.async.wait_group 1;\n" ::: "memory");
    } else {
      asm volatile("cp.async.wait_all;\n" ::: "memory");
    }
    __syncthreads();
    for (int step = 0; step < kDepth; step += 16) {
      unsigned left[4];
      const half* const place_a = stages_a +
          (stage * kTile + warp * 16 + lane % 16) * kPadded + step +
          lane / 16 * 8;
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
          : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3])
          : "r"(shared_address(place_a)));
      for (int part = 0; part < 8; ++part) {
        unsigned right[2];
        const half* const place_b = stages_b +
            (stage * kTile + part * 8 + lane % 8) * kPadded + step +
            lane / 8 % 2 * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];\n"
                     : "=r"(right[0]), "=r"(right[1])
                     : "r"(shared_address(place_b)));
        float* const sum = sums[part];
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(left[0]),
              "r"(left[1]),
              "r"(left[2]),
              "r"(left[3]),
              "r"(right[0]),
              "r"(right[1]));
      }
    }
    __syncthreads();
  }
  for (int part = 0; part < 8; ++part) {
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + warp * 16 + lane / 4 + i / 2 * 8;
      const int column = first_column + part * 8 + lane % 4 * 2 + i % 2;
      if (row < rows && column < columns) {
        c[row * columns + column] = sums[part][i];
      }
    }
  }
}

int main() {
  constexpr int kRows = 100;
  constexpr int kColumns = 150;
  constexpr int kInner = 160;
  std::vector<half> a(kRows * kInner);
  std::vector<half> b(kColumns * kInner);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i * 7 % 11) - 5;
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = static_cast<float>(i * 5 % 13) - 6;
  }
  float* c = to_device(std::vector<float>(kRows * kColumns));
  constexpr int kShared = 4 * kTile * kPadded * sizeof(half);
  CHECK_CUDA(cudaFuncSetAttribute(
      product, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const dim3 grid((kColumns + kTile - 1) / kTile, (kRows + kTile - 1) / kTile);
  product<<<grid, 128, kShared>>>(
      to_device(a), to_device(b), c, kRows, kColumns, kInner);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<float> found = to_host(c, kRows * kColumns);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      float expected = 0;
      for (int k = 0; k < kInner; ++k) {
        expected += static_cast<float>(a[row * kInner + k]) *
            static_cast<float>(b[column * kInner + k]);
      }
      const int i = row * kColumns + column;
      expect_equal("product", i, found[i], expected);
    }
  }
}
