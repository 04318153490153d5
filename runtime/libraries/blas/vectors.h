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

/// A vector in the order of its elements.
template <typename T>
class Strided {
 public:
  Strided(T* x, int n, int stride)
      : first_(first(x, n, stride)), stride_(stride) {}
  T& operator[](int i) const {
    return first_[static_cast<std::ptrdiff_t>(i) * stride_];
  }

 private:
  T* first_;
  std::ptrdiff_t stride_;
};

} // namespace accelerator::blas
