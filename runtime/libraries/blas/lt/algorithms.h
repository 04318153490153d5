// What a cublasLtMatmulAlgo_t holds. There is one algorithm; what programs set
// of it chooses between NVIDIA's kernels and has no effect here.
#pragma once

#include <cublasLt.h>

#include <cstdint>

namespace accelerator::blas::lt {

/// The number of the one algorithm.
constexpr std::int32_t kAlgorithm = 0;

struct Algorithm {
  std::uint32_t mark; // of one that was made
  std::int32_t id;
  std::uint32_t tile;
  std::int32_t parts; // in which the inner dimension is split
  std::uint32_t reduction;
  std::uint32_t swizzling;
  std::uint32_t custom;
  std::uint32_t stages;
  std::uint16_t inner_shape;
  std::uint16_t cluster_shape;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

constexpr std::uint32_t kMade = 0x416c676f;

inline bool is_made(const cublasLtMatmulAlgo_t* algorithm) {
  return algorithm != nullptr &&
      reinterpret_cast<const Algorithm*>(algorithm)->mark == kMade;
}

inline void make(cublasLtMatmulAlgo_t* algorithm) {
  *algorithm = {};
  *reinterpret_cast<Algorithm*>(algorithm) = {
      kMade, kAlgorithm, 0, 1, 0, 0, 0, 0, 0, 0};
}

} // namespace accelerator::blas::lt
