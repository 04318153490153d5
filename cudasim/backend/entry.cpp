// The one function that libaccel_sim.so exports.
#include "cudasim/backend/api/api.h"

extern "C" __attribute__((visibility("default"))) const accel_api* accel_get_api(
    std::uint32_t runtime_version) {
  return cudasim::backend::get_api(runtime_version);
}
