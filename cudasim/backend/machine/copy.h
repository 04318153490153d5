// Copying and filling boxes of bytes.
#pragma once

#include "cudasim/backend/memory/written.h"
#include "device/abi/device_api.h"

namespace cudasim::backend {

/// @param check what is told of reads for the host; null: nobody.
void run_copy(const accel_copy& work, WrittenCheck* check);
void run_fill(const accel_fill& work);

} // namespace cudasim::backend
