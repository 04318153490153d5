#include "runtime/libraries/sparse/numbers.h"

#include "runtime/libraries/blas/numeric.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::sparse {
namespace {

/// Of what a complex number's two parts are.
cudaDataType part_type(cudaDataType type) {
  switch (type) {
    case CUDA_C_16F:
      return CUDA_R_16F;
    case CUDA_C_16BF:
      return CUDA_R_16BF;
    case CUDA_C_32F:
      return CUDA_R_32F;
    default:
      return CUDA_R_64F;
  }
}

/// Elements that the host knows itself.
template <typename T, typename W>
void load_as(
    const void* array,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    W* values) {
  const T* const from = static_cast<const T*>(array) + first;
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<W>(from[i * stride]);
  }
}

template <typename T, typename W>
void store_as(
    void* array,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    const W* values) {
  T* const to = static_cast<T*>(array) + first;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i * stride] = static_cast<T>(values[i]);
  }
}

double real_part(double value) {
  return value;
}
double real_part(const Complex& value) {
  return value.real();
}

} // namespace

std::size_t size_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
    case CUDA_R_32I:
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_R_32F:
    case CUDA_R_64F:
      return blas::size_of(type);
    case CUDA_C_16F:
    case CUDA_C_16BF:
    case CUDA_C_32F:
    case CUDA_C_64F:
      return 2 * blas::size_of(part_type(type));
    default:
      return 0;
  }
}

bool is_complex(cudaDataType type) {
  return type == CUDA_C_16F || type == CUDA_C_16BF || type == CUDA_C_32F ||
      type == CUDA_C_64F;
}

template <typename W>
void load(
    cudaDataType type,
    const void* array,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    W* values) {
  const auto size = static_cast<std::int64_t>(size_of(type));
  stream_work::Read read(
      static_cast<const char*>(array) + first * size, size_of(type));
  read.lines = count;
  read.pitch = stride * size;
  stream_work::reads({read});
  if (type == CUDA_R_32F) {
    return load_as<float>(array, first, stride, count, values);
  }
  if (type == CUDA_R_64F) {
    return load_as<double>(array, first, stride, count, values);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = first + i * stride;
    if (!is_complex(type)) {
      values[i] = blas::load(type, array, at);
    } else if constexpr (std::is_same_v<W, Complex>) {
      const cudaDataType part = part_type(type);
      values[i] = {
          blas::load(part, array, 2 * at), blas::load(part, array, 2 * at + 1)};
    }
  }
}

template <typename W>
void store(
    cudaDataType type,
    void* array,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    const W* values) {
  if constexpr (std::is_same_v<W, double>) {
    if (type == CUDA_R_32F) {
      return store_as<float>(array, first, stride, count, values);
    }
    if (type == CUDA_R_64F) {
      return store_as<double>(array, first, stride, count, values);
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = first + i * stride;
    if (!is_complex(type)) {
      blas::store(type, array, at, real_part(values[i]));
    } else if constexpr (std::is_same_v<W, Complex>) {
      const cudaDataType part = part_type(type);
      blas::store(part, array, 2 * at, values[i].real());
      blas::store(part, array, 2 * at + 1, values[i].imag());
    }
  }
}

#define ACCEL_INSTANTIATE(W) \
  template void load<W>(     \
      cudaDataType,          \
      const void*,           \
      std::int64_t,          \
      std::int64_t,          \
      std::int64_t,          \
      W*);                   \
  template void store<W>(    \
      cudaDataType,          \
      void*,                 \
      std::int64_t,          \
      std::int64_t,          \
      std::int64_t,          \
      const W*);
ACCEL_INSTANTIATE(double)
ACCEL_INSTANTIATE(Complex)
#undef ACCEL_INSTANTIATE

} // namespace accelerator::sparse
