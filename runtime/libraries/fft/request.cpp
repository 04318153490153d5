#include "runtime/libraries/fft/request.h"

namespace accelerator::fft {
namespace {

bool is_power_of_two(long long size) {
  return (size & (size - 1)) == 0;
}

/// Whether the bytes of one side can be counted at all.
bool is_countable(const Transform& transform) {
  // Complex numbers in double precision.
  std::int64_t bytes = 16;
  for (const std::int64_t size : transform.sizes) {
    if (__builtin_mul_overflow(bytes, size + 2, &bytes)) {
      return false;
    }
  }
  return !__builtin_mul_overflow(bytes, transform.batch, &bytes);
}

/// Whether no address of a layout is beyond all memory.
bool is_countable(const Layout& layout, const Transform& transform) {
  std::int64_t bytes = 16;
  if (__builtin_mul_overflow(bytes, layout.stride, &bytes)) {
    return false;
  }
  for (std::size_t i = 1; i < layout.embed.size(); ++i) {
    if (__builtin_mul_overflow(bytes, layout.embed[i], &bytes)) {
      return false;
    }
  }
  std::int64_t batches = 16;
  return !__builtin_mul_overflow(bytes, transform.sizes[0], &bytes) &&
      !__builtin_mul_overflow(batches, layout.distance, &batches) &&
      !__builtin_mul_overflow(batches, transform.batch, &batches);
}

cufftResult make_layout(
    const long long* embed,
    long long stride,
    long long distance,
    const Transform& transform,
    std::optional<Layout>* layout) {
  Layout made;
  made.embed.assign(embed, embed + transform.sizes.size());
  made.stride = stride;
  made.distance = distance;
  for (std::size_t i = 1; i < made.embed.size(); ++i) {
    if (made.embed[i] <= 0) {
      return CUFFT_INVALID_VALUE;
    }
  }
  if (stride <= 0 || distance < 0) {
    return CUFFT_INVALID_VALUE;
  }
  if (!is_countable(made, transform)) {
    return CUFFT_INVALID_SIZE;
  }
  *layout = std::move(made);
  return CUFFT_SUCCESS;
}

} // namespace

cufftResult types_of(cufftType type, Types* types) {
  switch (type) {
    case CUFFT_C2C:
      *types = {Kind::kComplexToComplex, Precision::kSingle};
      return CUFFT_SUCCESS;
    case CUFFT_R2C:
      *types = {Kind::kRealToComplex, Precision::kSingle};
      return CUFFT_SUCCESS;
    case CUFFT_C2R:
      *types = {Kind::kComplexToReal, Precision::kSingle};
      return CUFFT_SUCCESS;
    case CUFFT_Z2Z:
      *types = {Kind::kComplexToComplex, Precision::kDouble};
      return CUFFT_SUCCESS;
    case CUFFT_D2Z:
      *types = {Kind::kRealToComplex, Precision::kDouble};
      return CUFFT_SUCCESS;
    case CUFFT_Z2D:
      *types = {Kind::kComplexToReal, Precision::kDouble};
      return CUFFT_SUCCESS;
  }
  return CUFFT_INVALID_VALUE;
}

cufftResult types_of(
    cudaDataType input,
    cudaDataType output,
    cudaDataType execution,
    Types* types) {
  struct Row {
    cudaDataType real;
    cudaDataType complex;
    Precision precision;
  };
  constexpr Row kRows[] = {
      {CUDA_R_16F, CUDA_C_16F, Precision::kHalf},
      {CUDA_R_16BF, CUDA_C_16BF, Precision::kBfloat16},
      {CUDA_R_32F, CUDA_C_32F, Precision::kSingle},
      {CUDA_R_64F, CUDA_C_64F, Precision::kDouble},
  };
  for (const Row& row : kRows) {
    if (execution != row.complex) {
      continue;
    }
    types->precision = row.precision;
    if (input == row.complex && output == row.complex) {
      types->kind = Kind::kComplexToComplex;
    } else if (input == row.real && output == row.complex) {
      types->kind = Kind::kRealToComplex;
    } else if (input == row.complex && output == row.real) {
      types->kind = Kind::kComplexToReal;
    } else {
      return CUFFT_INVALID_VALUE;
    }
    return CUFFT_SUCCESS;
  }
  return CUFFT_INVALID_VALUE;
}

cufftResult make_transform(
    const Request& request,
    Types types,
    std::shared_ptr<const Transform>* transform) {
  const long long* const n = request.n.get();
  if (n == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  auto made = std::make_shared<Transform>();
  made->kind = types.kind;
  made->precision = types.precision;
  made->sizes.assign(n, n + request.rank);
  made->batch = request.batch;
  const bool is_half = types.precision == Precision::kHalf ||
      types.precision == Precision::kBfloat16;
  for (const std::int64_t size : made->sizes) {
    if (size <= 0 || (is_half && !is_power_of_two(size))) {
      return CUFFT_INVALID_SIZE;
    }
  }
  if (made->batch <= 0 || !is_countable(*made)) {
    return CUFFT_INVALID_SIZE;
  }
  // Without the one, the other does not count either.
  if (request.inembed.get() != nullptr && request.onembed.get() != nullptr) {
    const bool is_strided_half = is_half &&
        ((types.kind == Kind::kRealToComplex && request.istride != 1) ||
         (types.kind == Kind::kComplexToReal && request.ostride != 1));
    if (is_strided_half) {
      return CUFFT_NOT_SUPPORTED;
    }
    for (const cufftResult result :
         {make_layout(
              request.inembed.get(),
              request.istride,
              request.idist,
              *made,
              &made->input_layout),
          make_layout(
              request.onembed.get(),
              request.ostride,
              request.odist,
              *made,
              &made->output_layout)}) {
      if (result != CUFFT_SUCCESS) {
        return result;
      }
    }
  }
  *transform = std::move(made);
  return CUFFT_SUCCESS;
}

} // namespace accelerator::fft
