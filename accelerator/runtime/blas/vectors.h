// Vectors with strides, as cuBLAS means them.
#pragma once

#include <cstddef>

namespace accelerator::blas {

/// First element of a vector whose stride may be negative: its address is that
/// of the last one then.
template <typename T>
T* first(T* x, int n, int stride) {
  return stride < 0 ? x - static_cast<std::ptrdiff_t>(n - 1) * stride : x;
}

} // namespace accelerator::blas
