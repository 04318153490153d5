// libcupti, found and loaded when the first profile wants it: who does not
// profile does not pay for it, and where it is missing the CPU is profiled.
#pragma once

#include <cupti.h>

#include <string>

namespace torch_cuda::profiler {

// What of it is used, each function under its own name.
#define TORCH_CUDA_CUPTI_FUNCTIONS(apply)                               \
  apply(cuptiActivityDisable) apply(cuptiActivityEnable)                \
      apply(cuptiActivityFlushAll) apply(cuptiActivityGetNextRecord)    \
          apply(cuptiActivityGetNumDroppedRecords)                      \
              apply(cuptiActivityPopExternalCorrelationId)              \
                  apply(cuptiActivityPushExternalCorrelationId)         \
                      apply(cuptiActivityRegisterCallbacks)             \
                          apply(cuptiActivityRegisterTimestampCallback) \
                              apply(cuptiGetCallbackName)               \
                                  apply(cuptiGetResultString)           \
                                      apply(cuptiGetVersion)            \
                                          apply(cuptiSetThreadIdType)

struct CuptiLibrary {
#define TORCH_CUDA_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
  TORCH_CUDA_CUPTI_FUNCTIONS(TORCH_CUDA_CUPTI_MEMBER)
#undef TORCH_CUDA_CUPTI_MEMBER

  /// The name of a result.
  std::string text_of(CUptiResult result) const;
};

/// The library: the one that is in the process already, else the file that
/// set_cupti_path() named, else what the system's loader finds. Null when there
/// is none that can be used; then the next call looks again.
const CuptiLibrary* cupti_library();

/// Where to look for it; empty: nowhere but where the loader does.
void set_cupti_path(const std::string& path);

/// Why cupti_library() found none the last time; empty when it did.
std::string why_no_cupti();

} // namespace torch_cuda::profiler
