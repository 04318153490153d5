// Tensor cores through nvcuda::wmma: half, bfloat16, tf32, int8 and double.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <type_traits>

#include "tests/cuda_programs/check.h"

namespace wmma = nvcuda::wmma;

// One warp makes one tile; the matrices are tiles x tiles of them.
template <
    int M,
    int N,
    int K,
    typename Part,
    typename Stored,
    typename Sum,
    typename LayoutA,
    typename LayoutB>
__global__ void product(const Stored* a, const Stored* b, Sum* c, int tiles) {
  const int row = blockIdx.y;
  const int column = blockIdx.x;
  const int inner = tiles * K;
  constexpr bool kRowsA = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool kRowsB = std::is_same_v<LayoutB, wmma::row_major>;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, Sum(1));
  for (int step = 0; step < tiles; ++step) {
    wmma::fragment<wmma::matrix_a, M, N, K, Part, LayoutA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, Part, LayoutB> right;
    const int rows_of_a = tiles * M;
    const int columns_of_b = tiles * N;
    wmma::load_matrix_sync(
        left,
        kRowsA ? a + row * M * inner + step * K
               : a + step * K * rows_of_a + row * M,
        kRowsA ? inner : rows_of_a);
    wmma::load_matrix_sync(
        right,
        kRowsB ? b + step * K * columns_of_b + column * N
               : b + column * N * inner + step * K,
        kRowsB ? columns_of_b : inner);
    if constexpr (std::is_same_v<Part, wmma::precision::tf32>) {
      for (int i = 0; i < left.num_elements; ++i) {
        left.x[i] = wmma::__float_to_tf32(left.x[i]);
      }
      for (int i = 0; i < right.num_elements; ++i) {
        right.x[i] = wmma::__float_to_tf32(right.x[i]);
      }
    }
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) {
    sum.x[i] = sum.x[i] * Sum(2);
  }
  wmma::store_matrix_sync(
      c + row * M * tiles * N + column * N,
      sum,
      tiles * N,
      wmma::mem_row_major);
}

template <typename T>
double number(T value) {
  return static_cast<double>(static_cast<float>(value));
}

// Small integers, so that every type holds all products and sums exactly.
template <
    int M,
    int N,
    int K,
    typename Part,
    typename Stored,
    typename Sum,
    typename LayoutA,
    typename LayoutB>
void check(const char* what) {
  constexpr int kTiles = 2;
  constexpr int kRows = kTiles * M;
  constexpr int kColumns = kTiles * N;
  constexpr int kInner = kTiles * K;
  const bool lowest = std::is_signed_v<Stored> || !std::is_integral_v<Stored>;
  std::vector<Stored> a(kRows * kInner);
  std::vector<Stored> b(kInner * kColumns);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] =
        static_cast<Stored>(static_cast<float>(i * 7 % 9) - (lowest ? 4 : 0));
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] =
        static_cast<Stored>(static_cast<float>(i * 5 % 7) - (lowest ? 3 : 0));
  }
  Sum* c = to_device(std::vector<Sum>(kRows * kColumns));
  product<M, N, K, Part, Stored, Sum, LayoutA, LayoutB>
      <<<dim3(kTiles, kTiles), 32>>>(to_device(a), to_device(b), c, kTiles);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<Sum> found = to_host(c, kRows * kColumns);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      double expected = 1;
      for (int k = 0; k < kInner; ++k) {
        const auto& left = std::is_same_v<LayoutA, wmma::row_major>
            ? a[row * kInner + k]
            : a[k * kRows + row];
        const auto& right = std::is_same_v<LayoutB, wmma::row_major>
            ? b[k * kColumns + column]
            : b[column * kInner + k];
        expected += number(left) * number(right);
      }
      const int i = row * kColumns + column;
      expect_equal(what, i, number(found[i]), 2 * expected);
    }
  }
}

int main() {
  using Rows = wmma::row_major;
  using Columns = wmma::col_major;
  using Bfloat = __nv_bfloat16;
  using Tf32 = wmma::precision::tf32;
  check<16, 16, 16, half, half, float, Rows, Rows>("half rows rows");
  check<16, 16, 16, half, half, float, Rows, Columns>("half rows columns");
  check<16, 16, 16, half, half, half, Columns, Rows>("half columns rows");
  check<32, 8, 16, half, half, float, Columns, Columns>("half 32x8");
  check<8, 32, 16, half, half, half, Rows, Columns>("half 8x32");
  check<16, 16, 16, Bfloat, Bfloat, float, Rows, Columns>("bfloat16");
  check<8, 32, 16, Bfloat, Bfloat, float, Columns, Rows>("bfloat16 8x32");
  check<32, 8, 16, Bfloat, Bfloat, float, Rows, Rows>("bfloat16 32x8");
  check<16, 16, 8, Tf32, float, float, Rows, Columns>("tf32");
  check<16, 16, 8, Tf32, float, float, Columns, Rows>("tf32 columns rows");
  check<16, 16, 16, signed char, signed char, int, Rows, Columns>("s8");
  check<32, 8, 16, unsigned char, unsigned char, int, Columns, Rows>("u8");
  check<8, 32, 16, signed char, signed char, int, Rows, Rows>("s8 8x32");
  check<8, 8, 4, double, double, double, Rows, Columns>("double");
  check<8, 8, 4, double, double, double, Columns, Rows>("double columns");
}
