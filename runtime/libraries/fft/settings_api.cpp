// What a plan is told besides what it computes, and what the library says of
// itself.
#include <cufft.h>
#include <cufftXt.h>

#include "runtime/libraries/fft/plans.h"

using namespace accelerator::fft;

extern "C" {

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const auto found = find_plan(plan);
  if (found == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  const std::lock_guard<std::mutex> lock(found->mutex);
  found->stream = stream;
  return CUFFT_SUCCESS;
}

// The host's transforms need no memory of the device.
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) {
  return find_plan(plan) == nullptr ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle plan, void*) {
  return find_plan(plan) == nullptr ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

cufftResult cufftXtSetWorkAreaPolicy(
    cufftHandle plan,
    cufftXtWorkAreaPolicy policy,
    size_t* work_size) {
  if (find_plan(plan) == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  switch (policy) {
    case CUFFT_WORKAREA_MINIMAL:
    case CUFFT_WORKAREA_PERFORMANCE:
      return CUFFT_SUCCESS;
    case CUFFT_WORKAREA_USER:
      return work_size == nullptr ? CUFFT_INVALID_VALUE : CUFFT_SUCCESS;
  }
  return CUFFT_INVALID_VALUE;
}

// Functions of the device that a plan would call need NVIDIA's static library.
cufftResult cufftXtSetCallback(
    cufftHandle plan,
    void**,
    cufftXtCallbackType,
    void**) {
  return find_plan(plan) == nullptr ? CUFFT_INVALID_PLAN
                                    : CUFFT_NOT_IMPLEMENTED;
}

cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType) {
  return find_plan(plan) == nullptr ? CUFFT_INVALID_PLAN
                                    : CUFFT_NOT_IMPLEMENTED;
}

cufftResult cufftXtSetCallbackSharedSize(
    cufftHandle plan,
    cufftXtCallbackType,
    size_t) {
  return find_plan(plan) == nullptr ? CUFFT_INVALID_PLAN
                                    : CUFFT_NOT_IMPLEMENTED;
}

cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}

cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  constexpr int kParts[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CUFFT_INVALID_VALUE;
  }
  *value = kParts[type];
  return CUFFT_SUCCESS;
}

cufftResult cufftSetPlanPropertyInt64(
    cufftHandle plan,
    cufftProperty property,
    const long long value) {
  const auto found = find_plan(plan);
  if (found == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  if (property != NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT) {
    return CUFFT_NOT_SUPPORTED;
  }
  if (value != 0 && value != 1) {
    return CUFFT_INVALID_VALUE;
  }
  const std::lock_guard<std::mutex> lock(found->mutex);
  if (found->transform != nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  found->patient_jit = value;
  return CUFFT_SUCCESS;
}

cufftResult cufftGetPlanPropertyInt64(
    cufftHandle plan,
    cufftProperty property,
    long long* value) {
  const auto found = find_plan(plan);
  if (found == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  if (property != NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT) {
    return CUFFT_NOT_SUPPORTED;
  }
  if (value == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  const std::lock_guard<std::mutex> lock(found->mutex);
  *value = found->patient_jit;
  return CUFFT_SUCCESS;
}

cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property) {
  return cufftSetPlanPropertyInt64(plan, property, 0);
}

} // extern "C"
