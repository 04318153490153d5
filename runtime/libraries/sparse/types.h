// Which types of elements go together.
#pragma once

#include <library_types.h>

#include <algorithm>
#include <initializer_list>

namespace accelerator::sparse {

/// The types of an operation's inputs, of its result, and of what it computes
/// with, which is that of its scalars.
struct Types {
  cudaDataType input;
  cudaDataType result;
  cudaDataType compute;

  bool operator==(const Types& other) const {
    return input == other.input && result == other.result &&
        compute == other.compute;
  }
};

inline bool is_one_of(const Types& types, std::initializer_list<Types> all) {
  return std::find(all.begin(), all.end(), types) != all.end();
}

/// The four types that everything computes with, all alike.
inline bool are_plain(const Types& types) {
  return is_one_of(
      types,
      {{CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
       {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
       {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
       {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F}});
}

/// Small types too, whose products are added up in single precision.
inline bool are_plain_or_half(const Types& types) {
  return are_plain(types) ||
      is_one_of(
             types,
             {{CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
              {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
              {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
              {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
              {CUDA_C_16F, CUDA_C_16F, CUDA_C_32F},
              {CUDA_C_16BF, CUDA_C_16BF, CUDA_C_32F}});
}

/// Those of products with dense vectors and matrices.
inline bool are_of_products(const Types& types) {
  return are_plain_or_half(types) ||
      is_one_of(
             types,
             {{CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
              {CUDA_R_8I, CUDA_R_32F, CUDA_R_32F}});
}

} // namespace accelerator::sparse
