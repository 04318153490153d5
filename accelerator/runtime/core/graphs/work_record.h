// What a profiler is told of work.
#pragma once

#include <cstdint>

#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/core/tracing/records.h"

namespace accelerator::runtime {

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

} // namespace accelerator::runtime
