// Copying and filling boxes of bytes.
#pragma once

#include "accelerator/abi/device_api.h"

namespace cudasim::backend {

void run_copy(const accel_copy& work);
void run_fill(const accel_fill& work);

} // namespace cudasim::backend
