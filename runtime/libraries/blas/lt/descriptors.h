// The opaque descriptors of cuBLASLt: each keeps its attributes in the caller's
// memory, in a struct of fixed size that cuBLASLt's header leaves opaque.
// Source: cuBLAS API, chapter 3.3.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>

namespace accelerator::blas::lt {

/// What is in a cublasLtMatmulDescOpaque_t.
struct MatmulDesc {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasLtPointerMode_t pointer_mode;
  cublasOperation_t operation_a;
  cublasOperation_t operation_b;
  cublasOperation_t operation_c;
  cublasLtEpilogue_t epilogue;
  std::int32_t bias_type; // cudaDataType_t, or -1: as D
  const void* bias;
  std::int64_t bias_stride;
  void* auxiliary;
  std::int64_t auxiliary_leading;
  std::int64_t auxiliary_stride;
  std::int32_t auxiliary_type;
  const float* scale_a;
  const float* scale_b;
  const float* scale_c;
  const float* scale_d;
  float* amax_d;
  std::int8_t fast_accumulation;
  const void* emulation; // a cublasLtEmulationDesc_t of CUDA 13; may be null
};

/// What is in a cublasLtMatrixLayoutOpaque_t.
struct MatrixLayout {
  cudaDataType_t type;
  cublasLtOrder_t order;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
  std::int32_t batch_count;
  std::int64_t batch_stride;
};

/// What is in a cublasLtMatrixTransformDescOpaque_t.
struct TransformDesc {
  cudaDataType_t scale;
  cublasLtPointerMode_t pointer_mode;
  cublasOperation_t operation_a;
  cublasOperation_t operation_b;
};

/// What is in a cublasLtMatmulPreferenceOpaque_t.
struct Preference {
  std::uint64_t workspace_bytes;
  std::uint32_t search_mode;
};

inline MatmulDesc& of(cublasLtMatmulDesc_t descriptor) {
  return *reinterpret_cast<MatmulDesc*>(descriptor);
}
inline MatrixLayout& of(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<MatrixLayout*>(layout);
}
inline TransformDesc& of(cublasLtMatrixTransformDesc_t descriptor) {
  return *reinterpret_cast<TransformDesc*>(descriptor);
}
inline Preference& of(cublasLtMatmulPreference_t preference) {
  return *reinterpret_cast<Preference*>(preference);
}

/// A field of a descriptor; null for an attribute that is not known.
struct Field {
  void* data;
  std::size_t size;
};

template <typename T>
Field field(T& member) {
  return {&member, sizeof(T)};
}

/// Sets an attribute; says on stderr that one is not known.
cublasStatus_t set(
    const char* function,
    int attribute,
    Field field,
    const void* value,
    std::size_t size);

/// Reads one.
/// @param written receives its size; may be null.
cublasStatus_t get(
    Field field,
    void* value,
    std::size_t size,
    std::size_t* written);

} // namespace accelerator::blas::lt
