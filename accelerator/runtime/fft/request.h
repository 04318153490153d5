// What a call asks a plan to be, and whether cuFFT can make such a plan.
#pragma once

#include <cufft.h>
#include <library_types.h>

#include <memory>

#include "accelerator/runtime/fft/transform.h"

namespace accelerator::fft {

/// Kind and precision, as a call names them.
struct Types {
  Kind kind;
  Precision precision;
};

/// @returns CUFFT_INVALID_VALUE for a type that there is not.
cufftResult types_of(cufftType type, Types* types);

/// @returns CUFFT_INVALID_VALUE for types that do not go together.
cufftResult types_of(
    cudaDataType input,
    cudaDataType output,
    cudaDataType execution,
    Types* types);

/// Sizes and layouts, as a call has them. Layouts are null where it has none.
struct Request {
  int rank;
  const long long* n;
  const long long* inembed;
  long long istride;
  long long idist;
  const long long* onembed;
  long long ostride;
  long long odist;
  long long batch;
};

/// Checks a request and makes the transform that it asks for.
/// @returns CUFFT_INVALID_VALUE: a rank, an embedding or a stride;
/// CUFFT_INVALID_SIZE: a size or a batch; CUFFT_NOT_SUPPORTED: what halves
/// cannot do.
cufftResult make_transform(
    const Request& request,
    Types types,
    std::shared_ptr<const Transform>* transform);

} // namespace accelerator::fft
