// Transforms by pocketfft. What it cannot do where the data lie goes through
// memory of the host without gaps: halves, and input that output overwrites.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <complex>
#include <memory>
#include <type_traits>

#include "runtime/libraries/fft/transform.h"

// Twiddle factors of the sizes used last are kept.
#define POCKETFFT_CACHE_SIZE 32
#include <pocketfft.h>

namespace accelerator::fft {
namespace {

/// The same elements without gaps, of another real type.
template <typename R>
Side without_gaps(const Side& side) {
  Side result = side;
  result.element_bytes = sizeof(R) * (side.is_complex ? 2 : 1);
  std::ptrdiff_t stride = 1;
  for (std::size_t i = result.shape.size(); i > 0; --i) {
    result.strides[i - 1] = stride;
    stride *= static_cast<std::ptrdiff_t>(result.shape[i - 1]);
  }
  return result;
}

template <typename To, typename From>
To converted(From value) {
  if constexpr (std::is_same_v<From, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<From, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else if constexpr (std::is_same_v<To, __half>) {
    return __float2half(value);
  } else if constexpr (std::is_same_v<To, __nv_bfloat16>) {
    return __float2bfloat16(value);
  } else {
    return value;
  }
}

/// Copies all elements, which lie as `from` says, to where `to` says.
template <typename To, typename From>
void copy(const Side& from, const From* source, const Side& to, To* target) {
  const std::size_t dimensions = from.shape.size();
  const std::size_t parts = from.is_complex ? 2 : 1;
  std::vector<std::size_t> index(dimensions, 0);
  const std::size_t inner = from.shape.back();
  const std::size_t rows = from.elements() / inner;
  for (std::size_t row = 0; row < rows; ++row) {
    std::ptrdiff_t read = 0, write = 0;
    for (std::size_t i = 0; i + 1 < dimensions; ++i) {
      read += static_cast<std::ptrdiff_t>(index[i]) * from.strides[i];
      write += static_cast<std::ptrdiff_t>(index[i]) * to.strides[i];
    }
    for (std::size_t i = 0; i < inner; ++i) {
      for (std::size_t part = 0; part < parts; ++part) {
        target[write * static_cast<std::ptrdiff_t>(parts) + part] =
            converted<To>(
                source[read * static_cast<std::ptrdiff_t>(parts) + part]);
      }
      read += from.strides.back();
      write += to.strides.back();
    }
    for (std::size_t i = dimensions - 1; i > 0; --i) {
      if (++index[i - 1] < from.shape[i - 1]) {
        break;
      }
      index[i - 1] = 0;
    }
  }
}

pocketfft::stride_t in_bytes(const Side& side) {
  pocketfft::stride_t strides(side.strides.begin(), side.strides.end());
  for (std::ptrdiff_t& stride : strides) {
    stride *= static_cast<std::ptrdiff_t>(side.element_bytes);
  }
  return strides;
}

/// The transform of data that pocketfft can take where they lie.
template <typename R>
void transform(
    Kind kind,
    const Side& from,
    const R* input,
    const Side& to,
    R* output,
    bool forward) {
  using Complex = std::complex<R>;
  pocketfft::shape_t axes;
  for (std::size_t i = 1; i < from.shape.size(); ++i) {
    axes.push_back(i);
  }
  const R one(1);
  switch (kind) {
    case Kind::kComplexToComplex:
      pocketfft::c2c(
          from.shape,
          in_bytes(from),
          in_bytes(to),
          axes,
          forward,
          reinterpret_cast<const Complex*>(input),
          reinterpret_cast<Complex*>(output),
          one);
      return;
    case Kind::kRealToComplex:
      pocketfft::r2c(
          from.shape,
          in_bytes(from),
          in_bytes(to),
          axes,
          pocketfft::FORWARD,
          input,
          reinterpret_cast<Complex*>(output),
          one);
      return;
    case Kind::kComplexToReal:
      pocketfft::c2r(
          to.shape,
          in_bytes(from),
          in_bytes(to),
          axes,
          pocketfft::BACKWARD,
          reinterpret_cast<const Complex*>(input),
          output,
          one);
      return;
  }
}

template <typename R>
std::unique_ptr<R[]> room(const Side& side) {
  return std::unique_ptr<R[]>(
      new R[side.elements() * (side.is_complex ? 2 : 1)]);
}

bool overlap(
    const Side& from,
    const void* input,
    const Side& to,
    void* output) {
  const auto* a = static_cast<const char*>(input);
  const auto* b = static_cast<const char*>(output);
  return a < b + to.extent_bytes() && b < a + from.extent_bytes();
}

template <typename R>
void compute_there(
    Kind kind,
    const Side& from,
    const R* input,
    const Side& to,
    R* output,
    bool forward) {
  const bool in_its_place = kind == Kind::kComplexToComplex &&
      input == output && from.strides == to.strides;
  if (in_its_place || !overlap(from, input, to, output)) {
    transform(kind, from, input, to, output, forward);
    return;
  }
  const Side dense = without_gaps<R>(from);
  const auto copied = room<R>(dense);
  copy(from, input, dense, copied.get());
  transform(kind, dense, copied.get(), to, output, forward);
}

/// In single precision, in between.
template <typename H>
void compute_halves(
    Kind kind,
    const Side& from,
    const H* input,
    const Side& to,
    H* output,
    bool forward) {
  const Side dense_from = without_gaps<float>(from);
  const Side dense_to = without_gaps<float>(to);
  const auto wide_input = room<float>(dense_from);
  const auto wide_output = room<float>(dense_to);
  copy(from, input, dense_from, wide_input.get());
  transform<float>(
      kind, dense_from, wide_input.get(), dense_to, wide_output.get(), forward);
  copy<H, float>(dense_to, wide_output.get(), to, output);
}

} // namespace

void compute(
    const Transform& transform,
    const void* input,
    void* output,
    bool forward) {
  const bool in_place = input == output;
  const Side from = transform.input(in_place);
  const Side to = transform.output(in_place);
  const auto run = [&](auto function, auto type) {
    using T = decltype(type);
    function(
        transform.kind,
        from,
        static_cast<const T*>(input),
        to,
        static_cast<T*>(output),
        forward);
  };
  switch (transform.precision) {
    case Precision::kHalf:
      return run(compute_halves<__half>, __half());
    case Precision::kBfloat16:
      return run(compute_halves<__nv_bfloat16>, __nv_bfloat16());
    case Precision::kSingle:
      return run(compute_there<float>, float());
    case Precision::kDouble:
      return run(compute_there<double>, double());
  }
}

} // namespace accelerator::fft
