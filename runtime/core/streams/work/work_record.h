// What a profiler is told of work.
#pragma once

#include <cstdint>

#include "runtime/core/streams/work/work.h"
#include "runtime/core/tracing/records.h"

namespace accelerator::runtime {

/// The record of work that was done between two times.
/// @param work of the host only if profilers know it by a name.
tracing::WorkRecord record_of(
    Device& device,
    const StreamWork& work,
    const tracing::Origin& origin,
    std::uint64_t start,
    std::uint64_t end);

} // namespace accelerator::runtime
