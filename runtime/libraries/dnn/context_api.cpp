// Handles, and what the library says of itself.
#include <cudnn.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/libraries/dnn/context.h"
#include "runtime/libraries/dnn/status.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::dnn {
namespace {

const char* text_of(cudnnStatus_t status) {
#define ACCEL_TEXT(name) \
  case name:             \
    return #name
  switch (status) {
    ACCEL_TEXT(CUDNN_STATUS_SUCCESS);
    ACCEL_TEXT(CUDNN_STATUS_NOT_INITIALIZED);
    ACCEL_TEXT(CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH);
    ACCEL_TEXT(CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH);
    ACCEL_TEXT(CUDNN_STATUS_DEPRECATED);
    ACCEL_TEXT(CUDNN_STATUS_LICENSE_ERROR);
    ACCEL_TEXT(CUDNN_STATUS_RUNTIME_IN_PROGRESS);
    ACCEL_TEXT(CUDNN_STATUS_RUNTIME_FP_OVERFLOW);
    ACCEL_TEXT(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM);
    ACCEL_TEXT(CUDNN_STATUS_INVALID_VALUE);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH);
    ACCEL_TEXT(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_SHAPE);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_PADDING);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_BAD_LAUNCH_PARAM);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API);
    ACCEL_TEXT(CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE);
    ACCEL_TEXT(CUDNN_STATUS_INTERNAL_ERROR);
    ACCEL_TEXT(CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED);
    ACCEL_TEXT(CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE);
    ACCEL_TEXT(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
    ACCEL_TEXT(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
    ACCEL_TEXT(CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM);
    ACCEL_TEXT(CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED);
    ACCEL_TEXT(CUDNN_STATUS_EXECUTION_FAILED);
    ACCEL_TEXT(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER);
    ACCEL_TEXT(CUDNN_STATUS_EXECUTION_FAILED_CUBLAS);
    ACCEL_TEXT(CUDNN_STATUS_EXECUTION_FAILED_CUDART);
    ACCEL_TEXT(CUDNN_STATUS_EXECUTION_FAILED_CURAND);
  }
#undef ACCEL_TEXT
  return "CUDNN_UNKNOWN_STATUS";
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

std::size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}

std::size_t cudnnGetMaxDeviceVersion() {
  return CUDNN_MAX_DEVICE_VERSION;
}

/// Of the runtime in this process: one library serves CUDA 12 and 13 in each
/// of its two places.
std::size_t cudnnGetCudartVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return static_cast<std::size_t>(version);
}

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  return guarded(__func__, [&] {
    constexpr int kParts[] = {CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL};
    require_pointers(value);
    require_valid(
        type >= MAJOR_VERSION && type <= PATCH_LEVEL,
        "there is no such property");
    *value = kParts[type];
  });
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return text_of(status);
}

void cudnnGetLastErrorString(char* message, std::size_t size) {
  if (message == nullptr || size == 0) {
    return;
  }
  const std::string text = take_last_error();
  const std::size_t length = std::min(size - 1, text.size());
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return guarded(__func__, [&] {
    require_pointers(handle);
    int device = 0;
    require(
        cudaGetDevice(&device) == cudaSuccess &&
            accelerator::stream_work::make_context() == cudaSuccess,
        CUDNN_STATUS_NOT_INITIALIZED,
        "there is no device");
    *handle = new cudnnContext{device, nullptr};
  });
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return guarded(__func__, [&] {
    require_pointers(handle);
    delete handle;
  });
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return guarded(__func__, [&] {
    require_pointers(handle);
    handle->stream = stream;
  });
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  return guarded(__func__, [&] {
    require_pointers(handle, stream);
    *stream = handle->stream;
  });
}

/// Says that PyTorch is not to choose cuDNN: it would call recurrent networks,
/// CTC loss and spatial transformers, which are not here.
int accelerator_no_cudnn() {
  return 1;
}

// All parts of the library are of one version.
#define ACCEL_CHECK(part)                     \
  cudnnStatus_t cudnn##part##VersionCheck() { \
    return CUDNN_STATUS_SUCCESS;              \
  }
ACCEL_CHECK(Graph)
ACCEL_CHECK(Ops)
ACCEL_CHECK(Cnn)
ACCEL_CHECK(Adv)
#undef ACCEL_CHECK

} // extern "C"
