// Handles, and what the library says of itself.
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <cstdio>
#include <iterator>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::sparse {
namespace {

struct Text {
  const char* name;
  const char* meaning;
};

/// By status.
constexpr Text kTexts[] = {
    {"CUSPARSE_STATUS_SUCCESS", "success"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {"CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error"},
    {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};

Text text_of(cusparseStatus_t status) {
  const auto number = static_cast<std::size_t>(status);
  constexpr const char* kUnknown = "unrecognized error code";
  return number < std::size(kTexts) ? kTexts[number] : Text{kUnknown, kUnknown};
}

cusparseStatus_t create_handle(const char* function, cusparseHandle_t* handle) {
  if (handle == nullptr) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return stream_work::make_context() == cudaSuccess
      ? create(function, handle)
      : CUSPARSE_STATUS_NOT_INITIALIZED;
}

/// The highest of the logger's levels.
constexpr int kLogLevels = 5;

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(1, cusparseCreate, create_handle)
ENTRY_POINT(1, cusparseDestroy, destroy)
ENTRY_POINT(2, cusparseGetStream, get<&cusparseContext::stream>)
ENTRY_POINT(2, cusparseGetPointerMode, get<&cusparseContext::pointer_mode>)

extern "C" {

cusparseStatus_t cusparseSetStream(
    cusparseHandle_t handle,
    cudaStream_t stream) {
  if (handle == nullptr) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetPointerMode(
    cusparseHandle_t handle,
    cusparsePointerMode_t mode) {
  if (handle == nullptr ||
      (mode != CUSPARSE_POINTER_MODE_HOST &&
       mode != CUSPARSE_POINTER_MODE_DEVICE)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  handle->pointer_mode = mode;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  return handle == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                           : answer(std::pair(version, CUSPARSE_VERSION));
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  constexpr int kParts[] = {
      CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
  return type < MAJOR_VERSION || type > PATCH_LEVEL
      ? CUSPARSE_STATUS_INVALID_VALUE
      : answer(std::pair(value, kParts[type]));
}

const char* cusparseGetErrorName(cusparseStatus_t status) {
  return text_of(status).name;
}

const char* cusparseGetErrorString(cusparseStatus_t status) {
  return text_of(status).meaning;
}

// There is no log: what is wrong is on stderr.
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerSetFile(FILE*) {
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerOpenFile(const char*) {
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerSetLevel(int level) {
  return level < 0 || level > kLogLevels ? CUSPARSE_STATUS_INVALID_VALUE
                                         : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerSetMask(int) {
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerForceDisable() {
  return CUSPARSE_STATUS_SUCCESS;
}

} // extern "C"
