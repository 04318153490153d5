#include "accelerator/runtime/blas/handle.h"

#include <cstdint>

#include "accelerator/runtime/stream_work/stream_work.h"

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      accelerator::stream_work::make_context() != cudaSuccess) {
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
  if (version == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
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
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (stream == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(
    cublasHandle_t handle,
    cublasPointerMode_t mode) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode_v2(
    cublasHandle_t handle,
    cublasPointerMode_t* mode) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (mode == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  // A mode, and a flag beside it.
  constexpr int kFlags = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  const int plain = mode & ~kFlags;
  if (plain < CUBLAS_DEFAULT_MATH || plain > CUBLAS_TF32_TENSOR_OP_MATH) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (mode == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *mode = handle->math_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetAtomicsMode(
    cublasHandle_t handle,
    cublasAtomicsMode_t mode) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  handle->atomics_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetAtomicsMode(
    cublasHandle_t handle,
    cublasAtomicsMode_t* mode) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (mode == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *mode = handle->atomics_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (count < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->sm_count_target = count;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (count == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *count = handle->sm_count_target;
  return CUBLAS_STATUS_SUCCESS;
}

// The host's BLAS needs no memory of the device.
cublasStatus_t cublasSetWorkspace_v2(
    cublasHandle_t handle,
    void* workspace,
    std::size_t) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  constexpr std::uintptr_t kAlignment = 256;
  if (reinterpret_cast<std::uintptr_t>(workspace) % kAlignment != 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define ACCEL_NAME(name) \
  case name:             \
    return #name;
    ACCEL_NAME(CUBLAS_STATUS_SUCCESS)
    ACCEL_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
    ACCEL_NAME(CUBLAS_STATUS_ALLOC_FAILED)
    ACCEL_NAME(CUBLAS_STATUS_INVALID_VALUE)
    ACCEL_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
    ACCEL_NAME(CUBLAS_STATUS_MAPPING_ERROR)
    ACCEL_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
    ACCEL_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
    ACCEL_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
    ACCEL_NAME(CUBLAS_STATUS_LICENSE_ERROR)
#undef ACCEL_NAME
  }
  return "unknown cuBLAS status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an invalid value was passed";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "the device does not have what the function needs";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "device memory could not be accessed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed on the device";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an operation inside the library failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the function or these parameters are not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "a license was not found";
  }
  return "unknown cuBLAS status";
}

} // extern "C"
