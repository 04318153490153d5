// Choosing an algorithm of cublasLtMatmul by hand: there is one to choose.
// Source: cuBLAS API, chapter 3.4.
#include "runtime/libraries/blas/lt/algorithms.h"

#include <cstdio>

#include "runtime/libraries/blas/lt/descriptors.h"
#include "runtime/libraries/blas/numeric.h"

namespace accelerator::blas::lt {
namespace {

Algorithm& algorithm_of(cublasLtMatmulAlgo_t* algorithm) {
  return *reinterpret_cast<Algorithm*>(algorithm);
}

Field find(Algorithm& a, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_ALGO_CONFIG_ID:
      return field(a.id);
    case CUBLASLT_ALGO_CONFIG_TILE_ID:
      return field(a.tile);
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM:
      return field(a.parts);
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME:
      return field(a.reduction);
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
      return field(a.swizzling);
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION:
      return field(a.custom);
    case CUBLASLT_ALGO_CONFIG_STAGES_ID:
      return field(a.stages);
    case CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID:
      return field(a.inner_shape);
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID:
      return field(a.cluster_shape);
    default:
      return {nullptr, 0};
  }
}

/// What the algorithm can do; the widest of these has 64 bits.
struct Capability {
  bool is_known;
  std::size_t size;
  std::uint64_t value;
};

Capability capability(cublasLtMatmulAlgoCapAttributes_t attribute) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  switch (attribute) {
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES:
      return {true, kWord, 1};
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
      return {
          true,
          kWord,
          CUBLASLT_POINTER_MODE_MASK_HOST | CUBLASLT_POINTER_MODE_MASK_DEVICE};
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK:
      return {
          true,
          kWord,
          CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU |
              CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU |
              CUBLASLT_EPILOGUE_RELU_AUX | CUBLASLT_EPILOGUE_GELU_AUX};
    // Lists of one number, which stands for none.
    case CUBLASLT_ALGO_CAP_TILE_IDS:
    case CUBLASLT_ALGO_CAP_STAGES_IDS:
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
      return {true, kWord, 0};
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS:
      return {true, sizeof(std::uint64_t), CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA};
    default:
      return {false, 0, 0};
  }
}

bool are_types(std::initializer_list<cudaDataType_t> types) {
  for (const cudaDataType_t type : types) {
    if (size_of(type) == 0) {
      return false;
    }
  }
  return true;
}

} // namespace
} // namespace accelerator::blas::lt

namespace lt = accelerator::blas::lt;

extern "C" {

cublasStatus_t cublasLtMatmulAlgoGetIds(
    cublasLtHandle_t handle,
    cublasComputeType_t,
    cudaDataType_t scale,
    cudaDataType_t a,
    cudaDataType_t b,
    cudaDataType_t c,
    cudaDataType_t d,
    int requested,
    int ids[],
    int* returned) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (requested < 1 || ids == nullptr || returned == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *returned = 0;
  if (!lt::are_types({scale, a, b, c, d})) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  ids[0] = lt::kAlgorithm;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(
    cublasLtHandle_t handle,
    cublasComputeType_t,
    cudaDataType_t scale,
    cudaDataType_t a,
    cudaDataType_t b,
    cudaDataType_t c,
    cudaDataType_t d,
    int id,
    cublasLtMatmulAlgo_t* algorithm) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (algorithm == nullptr || id < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // Programs name NVIDIA's numbers, too, which they had from NVIDIA's library.
  if (!lt::are_types({scale, a, b, c, d})) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  lt::make(algorithm);
  lt::algorithm_of(algorithm).id = id;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(
    const cublasLtMatmulAlgo_t* algorithm,
    cublasLtMatmulAlgoCapAttributes_t attribute,
    void* value,
    std::size_t size,
    std::size_t* written) {
  if (!lt::is_made(algorithm)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  lt::Capability found = lt::capability(attribute);
  if (!found.is_known) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // A list may have room for more.
  const bool is_list = attribute == CUBLASLT_ALGO_CAP_TILE_IDS ||
      attribute == CUBLASLT_ALGO_CAP_STAGES_IDS;
  return lt::get(
      {&found.value, found.size},
      value,
      is_list && size > found.size ? found.size : size,
      written);
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(
    cublasLtMatmulAlgo_t* algorithm,
    cublasLtMatmulAlgoConfigAttributes_t attribute,
    const void* value,
    std::size_t size) {
  // The number is only read.
  if (!lt::is_made(algorithm) || attribute == CUBLASLT_ALGO_CONFIG_ID) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return lt::set(
      __func__,
      attribute,
      lt::find(lt::algorithm_of(algorithm), attribute),
      value,
      size);
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t* algorithm,
    cublasLtMatmulAlgoConfigAttributes_t attribute,
    void* value,
    std::size_t size,
    std::size_t* written) {
  if (!lt::is_made(algorithm)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  cublasLtMatmulAlgo_t copy = *algorithm;
  return lt::get(
      lt::find(lt::algorithm_of(&copy), attribute), value, size, written);
}

} // extern "C"
