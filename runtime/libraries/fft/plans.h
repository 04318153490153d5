// cuFFT's plans: what a handle stands for, and the table of handles.
// Source: cuFFT API, chapter 3 (API reference).
#pragma once

#include <cuda_runtime_api.h>
#include <cufft.h>

#include <memory>
#include <mutex>

#include "runtime/libraries/fft/transform.h"

namespace accelerator::fft {

struct Plan {
  /// Guards everything but `device`.
  std::mutex mutex;
  int device = 0;
  cudaStream_t stream = nullptr;
  /// What it computes, which never changes: work in streams has it too. Null
  /// until one of cufftMakePlan*.
  std::shared_ptr<const Transform> transform;
  /// cufftSetPlanPropertyInt64's.
  long long patient_jit = 0;
};

/// Makes a plan of the current device that computes nothing yet.
cufftResult create_plan(cufftHandle* handle);

/// The plan of a handle; null for a handle that there is not.
std::shared_ptr<Plan> find_plan(cufftHandle handle);

cufftResult destroy_plan(cufftHandle handle);

} // namespace accelerator::fft
