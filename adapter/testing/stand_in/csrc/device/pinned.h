// Pinned memory of the host.
#pragma once

#include <c10/core/Allocator.h>

#include "c10/stand/StandStream.h"

namespace torch_stand_in {

/// Keeps freed blocks until copies from or to them are done.
c10::Allocator* pinned_allocator();

/// Says that a stream copies from or to `address`.
/// @param context of its data pointer, looked at only if it is this
/// allocator's.
void record_pinned(
    void* address,
    void* context,
    const c10::stand::StandStream& stream);

/// Gives back what nobody uses.
void empty_pinned_cache();

bool is_pinned(const void* address);

} // namespace torch_stand_in
