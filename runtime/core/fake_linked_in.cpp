// The device "fake" is linked in: a program with sanitizers opens no library
// without them.
#include <cstdint>

#include "device/abi/device_api.h"
#include "runtime/core/backends/backends.h"

extern "C" const accel_api* accel_get_api(std::uint32_t runtime_version);

namespace {

[[maybe_unused]] const bool kRegistered =
    accelerator::runtime::register_library(accel_get_api);

} // namespace
