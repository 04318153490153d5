// The one function that libaccel_nvidia.so exports.
#include "device/nvidia/api/api.h"

namespace accelerator::nvidia {
namespace {

accel_api make_api() {
  accel_api api{};
  api.struct_size = sizeof(api);
  api.abi_version = ACCEL_ABI_VERSION;
  api.name = "nvidia";
  add_devices(&api);
  add_memory(&api);
  add_copies(&api);
  add_streams(&api);
  add_events(&api);
  add_sharing(&api);
  add_virtual_memory(&api);
  add_code(&api);
  return api;
}

} // namespace
} // namespace accelerator::nvidia

extern "C" __attribute__((visibility("default"))) const accel_api* accel_get_api(
    uint32_t runtime_version) {
  static const accel_api api = accelerator::nvidia::make_api();
  return runtime_version == ACCEL_ABI_VERSION ? &api : nullptr;
}
