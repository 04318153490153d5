// Arrays of numbers that are computed with, and tensors in memory.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/libraries/dnn/elements.h"

namespace accelerator::dnn {

using Dims = std::vector<std::int64_t>;

inline std::int64_t count_of(const Dims& dims) {
  return std::accumulate(
      dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

/// Strides of an array without gaps, the last dimension innermost.
inline Dims packed_strides(const Dims& dims) {
  Dims strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

/// How a tensor lies in memory: strides are in elements.
struct Layout {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Dims dims;
  Dims strides;

  /// Elements from the first to behind the last one.
  std::int64_t span() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 0) {
        return 0;
      }
      last += (dims[i] - 1) * strides[i];
    }
    return last + 1;
  }
  std::size_t bytes() const {
    return bytes_of(type, span());
  }
  /// Whether it has no gaps, the last dimension innermost.
  bool is_packed() const {
    const Dims packed = packed_strides(dims);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != 1 && strides[i] != packed[i]) {
        return false;
      }
    }
    return true;
  }
};

/// An array without gaps, the last dimension innermost: its own memory, or a
/// view of somebody's, which has to outlive it.
template <typename T>
class Array {
 public:
  Array() = default;
  /// Of zeros.
  explicit Array(Dims dims)
      : dims_(std::move(dims)),
        own_(static_cast<std::size_t>(count_of(dims_))) {}
  Array(Dims dims, const T* view) : dims_(std::move(dims)), view_(view) {}

  const Dims& dims() const {
    return dims_;
  }
  std::int64_t size() const {
    return count_of(dims_);
  }
  const T* data() const {
    return view_ != nullptr ? view_ : own_.data();
  }
  /// A view becomes a copy.
  T* writable() {
    if (view_ != nullptr) {
      own_.assign(view_, view_ + size());
      view_ = nullptr;
    }
    return own_.data();
  }
  const T& operator[](std::int64_t index) const {
    return data()[index];
  }
  /// The same elements in an array of other dimensions.
  Array reshaped(Dims dims) && {
    dims_ = std::move(dims);
    return std::move(*this);
  }

 private:
  Dims dims_;
  std::vector<T> own_;
  const T* view_ = nullptr;
};

/// Calls `body(offset, row)` for each row along the last dimension, in order:
/// where it begins in memory, and its number.
template <typename Body>
void for_each_row(const Dims& dims, const Dims& strides, Body body) {
  const std::size_t outer = dims.empty() ? 0 : dims.size() - 1;
  if (count_of(dims) == 0) {
    return;
  }
  Dims index(outer);
  std::int64_t offset = 0;
  for (std::int64_t row = 0;; ++row) {
    body(offset, row);
    std::size_t i = outer;
    for (; i-- > 0;) {
      offset += strides[i];
      if (++index[i] < dims[i]) {
        break;
      }
      offset -= index[i] * strides[i];
      index[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) {
      return;
    }
  }
}

/// The dimension whose elements lie side by side in memory, where that is not
/// the last one, which is innermost in an array; -1: there is none.
inline int turned_dimension(const Layout& layout) {
  const std::size_t rank = layout.dims.size();
  if (rank < 2 || layout.strides.back() == 1 || layout.dims.back() == 1) {
    return -1;
  }
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (layout.strides[i] == 1 && layout.dims[i] > 1) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

/// Calls `body(offset, at)` for each matrix of a tensor's last dimension and
/// the one that lies innermost in memory: where it begins in memory and in an
/// array.
template <typename Body>
void for_each_matrix(const Layout& layout, int turned, Body body) {
  Dims dims = layout.dims;
  dims[turned] = 1;
  dims.back() = 1;
  std::vector<std::int64_t> places;
  for_each_row(
      dims, packed_strides(layout.dims), [&](std::int64_t at, std::int64_t) {
        places.push_back(at);
      });
  for_each_row(
      dims, layout.strides, [&](std::int64_t offset, std::int64_t matrix) {
        body(offset, places[static_cast<std::size_t>(matrix)]);
      });
}

/// Reads a tensor. What an array of T holds as it is becomes a view.
template <typename T>
Array<T> read(const Layout& layout, const void* memory) {
  if (is_type<T>(layout.type) && layout.is_packed()) {
    return Array<T>(layout.dims, static_cast<const T*>(memory));
  }
  Array<T> values(layout.dims);
  T* to = values.writable();
  const std::int64_t length = layout.dims.empty() ? 1 : layout.dims.back();
  const std::int64_t stride = layout.dims.empty() ? 1 : layout.strides.back();
  if (const int turned = turned_dimension(layout); turned >= 0) {
    const std::int64_t across = layout.dims[turned];
    const std::int64_t pitch = packed_strides(layout.dims)[turned];
    std::vector<T> line(static_cast<std::size_t>(across));
    for_each_matrix(layout, turned, [&](std::int64_t offset, std::int64_t at) {
      for (std::int64_t i = 0; i < length; ++i) {
        load(layout.type, memory, offset + i * stride, 1, across, line.data());
        T* place = to + at + i;
        for (std::int64_t j = 0; j < across; ++j) {
          place[j * pitch] = line[j];
        }
      }
    });
    return values;
  }
  for_each_row(
      layout.dims, layout.strides, [&](std::int64_t offset, std::int64_t row) {
        load(layout.type, memory, offset, stride, length, to + row * length);
      });
  return values;
}

template <typename T>
void write(const Layout& layout, void* memory, const Array<T>& values) {
  const T* from = values.data();
  const std::int64_t length = layout.dims.empty() ? 1 : layout.dims.back();
  const std::int64_t stride = layout.dims.empty() ? 1 : layout.strides.back();
  if (const int turned = turned_dimension(layout); turned >= 0) {
    const std::int64_t across = layout.dims[turned];
    const std::int64_t pitch = packed_strides(layout.dims)[turned];
    std::vector<T> line(static_cast<std::size_t>(across));
    for_each_matrix(layout, turned, [&](std::int64_t offset, std::int64_t at) {
      for (std::int64_t i = 0; i < length; ++i) {
        const T* place = from + at + i;
        for (std::int64_t j = 0; j < across; ++j) {
          line[j] = place[j * pitch];
        }
        store(layout.type, memory, offset + i * stride, 1, across, line.data());
      }
    });
    return;
  }
  for_each_row(
      layout.dims, layout.strides, [&](std::int64_t offset, std::int64_t row) {
        store(layout.type, memory, offset, stride, length, from + row * length);
      });
}

} // namespace accelerator::dnn
