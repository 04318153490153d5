// What a call asks a plan to be, and whether cuFFT can make such a plan.
#pragma once

#include <cufft.h>
#include <library_types.h>

#include <algorithm>
#include <array>
#include <memory>

#include "runtime/libraries/fft/transform.h"

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

constexpr int kMaxRank = 3;

/// As many sizes as a transform has dimensions, as a call has them; absent for
/// null, and for a rank that there is not.
class Sizes {
 public:
  Sizes() = default;

  /// @param Int type of 32 or of 64 bits.
  template <typename Int>
  Sizes(const Int* values, int rank)
      : are_there_(values != nullptr && rank > 0 && rank <= kMaxRank) {
    if (are_there_) {
      std::copy(values, values + rank, all_.begin());
    }
  }

  /// Null where they are absent.
  const long long* get() const {
    return are_there_ ? all_.data() : nullptr;
  }

 private:
  std::array<long long, kMaxRank> all_{};
  bool are_there_ = false;
};

/// Sizes and layouts, as a call has them. Layouts are absent where it has none.
struct Request {
  int rank;
  Sizes n;
  Sizes inembed;
  long long istride;
  long long idist;
  Sizes onembed;
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
