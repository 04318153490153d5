// What a profiler is told of work.
#pragma once

#include <cstdint>

#include "cudasim/device/graphs/work.h"
#include "cudasim/device/tracing/records.h"

namespace cudasim::device {

/// Whether profilers are told of this work: kernels, copies and fills.
bool is_recorded(const Work& work);

/// The record of work that was done between two times.
/// @param work for which is_recorded() holds.
tracing::WorkRecord record_of(
    Device& device,
    const Work& work,
    const tracing::Origin& origin,
    std::uint64_t start,
    std::uint64_t end);

} // namespace cudasim::device
