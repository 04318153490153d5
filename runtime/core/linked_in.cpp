// The simulated device is linked in: it needs no library to be found.
#include "cudasim/backend/api/api.h"
#include "runtime/core/backends/backends.h"

namespace {

[[maybe_unused]] const bool kRegistered =
    accelerator::runtime::register_library(cudasim::backend::get_api, true);

} // namespace
