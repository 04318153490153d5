// CUDA arrays for tests, and a model of one: its elements as bytes, without
// gaps.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <random>
#include <vector>

#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {

using Bytes = std::vector<unsigned char>;

/// A kind of array: its size in elements as cudaMalloc3DArray takes it.
struct Geometry {
  const char* name;
  cudaExtent extent;
  unsigned flags;

  std::size_t rows() const {
    return extent.height > 0 ? extent.height : 1;
  }
  std::size_t slices() const {
    return extent.depth > 0 ? extent.depth : 1;
  }
  /// The extent of a copy of all of it.
  cudaExtent whole() const {
    return {extent.width, rows(), slices()};
  }
  std::size_t elements() const {
    return extent.width * rows() * slices();
  }
};

inline std::vector<Geometry> geometries() {
  return {
      {"line", {37, 0, 0}, 0},
      {"plane", {13, 7, 0}, 0},
      {"gathered plane", {33, 5, 0}, cudaArrayTextureGather},
      {"box", {9, 6, 5}, cudaArraySurfaceLoadStore},
      {"layered line", {21, 0, 4}, cudaArrayLayered},
      {"layered plane", {10, 3, 4}, cudaArrayLayered},
      {"cubemap", {5, 5, 6}, cudaArrayCubemap},
      {"layered cubemap", {3, 3, 12}, cudaArrayCubemap | cudaArrayLayered},
  };
}

inline std::vector<cudaChannelFormatDesc> formats() {
  return {
      {8, 0, 0, 0, cudaChannelFormatKindUnsigned},
      {8, 8, 8, 8, cudaChannelFormatKindSigned},
      {16, 16, 0, 0, cudaChannelFormatKindSigned},
      {16, 0, 0, 0, cudaChannelFormatKindFloat},
      {32, 32, 0, 0, cudaChannelFormatKindUnsigned},
      {32, 32, 32, 32, cudaChannelFormatKindFloat},
      {8, 8, 0, 0, cudaChannelFormatKindUnsignedNormalized8X2},
  };
}

inline std::size_t bytes_of(const cudaChannelFormatDesc& format) {
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) /
      8;
}

inline Bytes random_bytes(std::size_t count, std::mt19937& random) {
  Bytes bytes(count);
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(random());
  }
  return bytes;
}

/// What a copy of a box has to make of `to`, byte by byte.
/// @param to_size and `from_size`: of all of both, in elements.
inline void copy_model(
    Bytes& to,
    const cudaExtent& to_size,
    const cudaPos& to_at,
    const Bytes& from,
    const cudaExtent& from_size,
    const cudaPos& from_at,
    const cudaExtent& size,
    std::size_t element) {
  const auto place = [&](const cudaExtent& all,
                         const cudaPos& at,
                         std::size_t x,
                         std::size_t y,
                         std::size_t z) {
    return (((at.z + z) * all.height + at.y + y) * all.width + at.x + x) *
        element;
  };
  for (std::size_t z = 0; z < size.depth; ++z) {
    for (std::size_t y = 0; y < size.height; ++y) {
      for (std::size_t x = 0; x < size.width; ++x) {
        for (std::size_t byte = 0; byte < element; ++byte) {
          to[place(to_size, to_at, x, y, z) + byte] =
              from[place(from_size, from_at, x, y, z) + byte];
        }
      }
    }
  }
}

/// An array that ends with the test.
class Array {
 public:
  Array(const Geometry& geometry, const cudaChannelFormatDesc& format)
      : geometry_(geometry), element_(bytes_of(format)) {
    EXPECT_OK(
        cudaMalloc3DArray(&handle_, &format, geometry.extent, geometry.flags));
  }
  ~Array() {
    EXPECT_OK(cudaFreeArray(handle_));
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  operator cudaArray_t() const {
    return handle_;
  }
  std::size_t element() const {
    return element_;
  }
  const Geometry& geometry() const {
    return geometry_;
  }
  std::size_t row() const {
    return geometry_.extent.width * element_;
  }
  std::size_t bytes() const {
    return geometry_.elements() * element_;
  }
  /// Host memory without gaps, of an extent in elements.
  cudaPitchedPtr packed(Bytes& host, const cudaExtent& extent) const {
    const std::size_t row = extent.width * element_;
    return {host.data(), row, row, extent.height};
  }
  void set(const Bytes& values) const {
    Bytes host = values;
    cudaMemcpy3DParms p{};
    p.srcPtr = packed(host, geometry_.whole());
    p.dstArray = handle_;
    p.extent = geometry_.whole();
    p.kind = cudaMemcpyHostToDevice;
    EXPECT_OK(cudaMemcpy3D(&p));
  }
  Bytes get() const {
    Bytes host(bytes());
    cudaMemcpy3DParms p{};
    p.srcArray = handle_;
    p.dstPtr = packed(host, geometry_.whole());
    p.extent = geometry_.whole();
    p.kind = cudaMemcpyDeviceToHost;
    EXPECT_OK(cudaMemcpy3D(&p));
    return host;
  }

 private:
  Geometry geometry_;
  std::size_t element_;
  cudaArray_t handle_ = nullptr;
};

} // namespace accelerator::cudart::testing
