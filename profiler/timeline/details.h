// What CUPTI's records are called in a trace, and the details beside the name:
// the same names and keys as in a PyTorch that was built with CUPTI, because
// tools read them.
#pragma once

#include <cupti.h>

#include <string>

namespace torch_cuda::profiler {

std::string name_of(const CUpti_ActivityKernel9& kernel);
std::string name_of(const CUpti_ActivityMemcpy5& copy);
std::string name_of(const CUpti_ActivityMemcpyPtoP4& copy);
std::string name_of(const CUpti_ActivityMemset4& fill);
std::string name_of(const CUpti_ActivitySynchronization& wait);
std::string name_of(const CUpti_ActivityOverhead3& overhead);

std::string details_of(const CUpti_ActivityKernel9& kernel);
/// @param nanoseconds how long it took.
std::string details_of(const CUpti_ActivityMemcpy5& copy, double nanoseconds);
std::string details_of(
    const CUpti_ActivityMemcpyPtoP4& copy,
    double nanoseconds);
std::string details_of(const CUpti_ActivityMemset4& fill, double nanoseconds);
std::string details_of(const CUpti_ActivityAPI& call);

/// Where an event was recorded that is waited for; -1: not seen.
struct EventOrigin {
  long long stream = -1;
  long long correlation = -1;
};
std::string details_of(
    const CUpti_ActivitySynchronization& wait,
    unsigned device,
    const EventOrigin& event);

} // namespace torch_cuda::profiler
