#include "runtime/libraries/blas/handle.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>

#include "runtime/stream_work/stream_work.h"

namespace {

bool is_any(...) {
  return true;
}

/// Gives one of a handle's settings a value.
/// @tparam kIsValid whether the setting can have it.
template <auto kSetting, auto kIsValid = is_any, typename T>
cublasStatus_t set(const char*, cublasHandle_t handle, T value) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!kIsValid(value)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->*kSetting = value;
  return CUBLAS_STATUS_SUCCESS;
}

template <auto kSetting, typename T>
cublasStatus_t get(const char*, cublasHandle_t handle, T* value) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (value == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *value = handle->*kSetting;
  return CUBLAS_STATUS_SUCCESS;
}

bool is_pointer_mode(cublasPointerMode_t mode) {
  return mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE;
}

/// A mode, and a flag beside it.
bool is_math_mode(cublasMath_t mode) {
  constexpr int kFlags = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  const int plain = mode & ~kFlags;
  constexpr int kEmulations[] = {4, 8}; // of float and double, since CUDA 13
  return (plain >= CUBLAS_DEFAULT_MATH &&
          plain <= CUBLAS_TF32_TENSOR_OP_MATH) ||
      plain == kEmulations[0] || plain == kEmulations[1];
}

template <int kMost>
bool is_up_to(int value) {
  return value >= 0 && value <= kMost;
}
struct Text {
  cublasStatus_t status;
  const char* name;
  const char* meaning;
};

#define ACCEL_TEXT(name) name, #name
constexpr Text kTexts[] = {
    {ACCEL_TEXT(CUBLAS_STATUS_SUCCESS), "success"},
    {ACCEL_TEXT(CUBLAS_STATUS_NOT_INITIALIZED),
     "the library was not initialized"},
    {ACCEL_TEXT(CUBLAS_STATUS_ALLOC_FAILED), "the resource allocation failed"},
    {ACCEL_TEXT(CUBLAS_STATUS_INVALID_VALUE), "an invalid value was passed"},
    {ACCEL_TEXT(CUBLAS_STATUS_ARCH_MISMATCH),
     "the device does not have what the function needs"},
    {ACCEL_TEXT(CUBLAS_STATUS_MAPPING_ERROR),
     "device memory could not be accessed"},
    {ACCEL_TEXT(CUBLAS_STATUS_EXECUTION_FAILED),
     "the function failed on the device"},
    {ACCEL_TEXT(CUBLAS_STATUS_INTERNAL_ERROR),
     "an operation inside the library failed"},
    {ACCEL_TEXT(CUBLAS_STATUS_NOT_SUPPORTED),
     "the function or these parameters are not supported"},
    {ACCEL_TEXT(CUBLAS_STATUS_LICENSE_ERROR), "a license was not found"},
};
#undef ACCEL_TEXT

Text text_of(cublasStatus_t status) {
  const auto found =
      std::find_if(std::begin(kTexts), std::end(kTexts), [&](const Text& text) {
        return text.status == status;
      });
  return found != std::end(kTexts)
      ? *found
      : Text{status, "unknown cuBLAS status", "unknown cuBLAS status"};
}

} // namespace

ENTRY_POINT(2, cublasSetStream, set<&cublasContext::stream>)
ENTRY_POINT(2, cublasGetStream, get<&cublasContext::stream>)
ENTRY_POINT(
    2,
    cublasSetPointerMode,
    set<&cublasContext::pointer_mode, is_pointer_mode>)
ENTRY_POINT(2, cublasGetPointerMode, get<&cublasContext::pointer_mode>)
ENTRY_POINT(2, cublasSetMathMode, set<&cublasContext::math_mode, is_math_mode>)
ENTRY_POINT(2, cublasGetMathMode, get<&cublasContext::math_mode>)
ENTRY_POINT(2, cublasSetAtomicsMode, set<&cublasContext::atomics_mode>)
ENTRY_POINT(2, cublasGetAtomicsMode, get<&cublasContext::atomics_mode>)
ENTRY_POINT(
    2,
    cublasSetSmCountTarget,
    set<&cublasContext::sm_count_target, is_up_to<INT_MAX>>)
ENTRY_POINT(2, cublasGetSmCountTarget, get<&cublasContext::sm_count_target>)

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
  constexpr int kParts[] = {
      CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *value = kParts[type];
  return CUBLAS_STATUS_SUCCESS;
}

std::size_t cublasGetCudartVersion() {
  return CUDART_VERSION;
}

// Of CUDA 13, whose enumerations are int.
#define ACCEL_EMULATION(name, setting, is_valid)                            \
  cublasStatus_t cublasSet##name(cublasHandle_t handle, int value) {        \
    return set<&cublasContext::setting, is_valid>(__func__, handle, value); \
  }                                                                         \
  cublasStatus_t cublasGet##name(cublasHandle_t handle, int* value) {       \
    return get<&cublasContext::setting>(__func__, handle, value);           \
  }
ACCEL_EMULATION(EmulationStrategy, emulation_strategy, is_up_to<2>)
ACCEL_EMULATION(
    EmulationSpecialValuesSupport,
    emulated_special_values,
    is_up_to<0xffff>)
ACCEL_EMULATION(
    FixedPointEmulationMantissaControl,
    mantissa_control,
    is_up_to<1>)
ACCEL_EMULATION(
    FixedPointEmulationMaxMantissaBitCount,
    most_mantissa_bits,
    is_up_to<INT_MAX>)
ACCEL_EMULATION(FixedPointEmulationMantissaBitOffset, mantissa_offset, is_any)
#undef ACCEL_EMULATION

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
  return text_of(status).name;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  return text_of(status).meaning;
}

} // extern "C"
