#include "cudasim/blas/handle.h"

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  int device = 0;
  // cudaFree(nullptr) makes the device's context, as cuBLAS does.
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaFree(nullptr) != cudaSuccess) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  *handle = new cublasContext{};
  (*handle)->device = device;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  switch (type) {
    case MAJOR_VERSION:
      *value = CUBLAS_VER_MAJOR;
      return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = CUBLAS_VER_MINOR;
      return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = CUBLAS_VER_PATCH;
      return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

std::size_t cublasGetCudartVersion() {
  return CUDART_VERSION;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(
    cublasHandle_t handle,
    cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode_v2(
    cublasHandle_t handle,
    cublasPointerMode_t* mode) {
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->math_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetAtomicsMode(
    cublasHandle_t handle,
    cublasAtomicsMode_t mode) {
  handle->atomics_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetAtomicsMode(
    cublasHandle_t handle,
    cublasAtomicsMode_t* mode) {
  *mode = handle->atomics_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  handle->sm_count_target = count;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  *count = handle->sm_count_target;
  return CUBLAS_STATUS_SUCCESS;
}

// The host's BLAS needs no memory of the device.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define CUDASIM_NAME(name) \
  case name:               \
    return #name;
    CUDASIM_NAME(CUBLAS_STATUS_SUCCESS)
    CUDASIM_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
    CUDASIM_NAME(CUBLAS_STATUS_ALLOC_FAILED)
    CUDASIM_NAME(CUBLAS_STATUS_INVALID_VALUE)
    CUDASIM_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
    CUDASIM_NAME(CUBLAS_STATUS_MAPPING_ERROR)
    CUDASIM_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
    CUDASIM_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
    CUDASIM_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
    CUDASIM_NAME(CUBLAS_STATUS_LICENSE_ERROR)
#undef CUDASIM_NAME
  }
  return "unknown cuBLAS status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  return cublasGetStatusName(status);
}

} // extern "C"
