#include "cudasim/backend/api/api.h"

namespace cudasim::backend {
namespace {

accel_api make_api() {
  accel_api api{};
  api.struct_size = sizeof(api);
  api.abi_version = ACCEL_ABI_VERSION;
  api.name = "sim";
  add_devices(&api);
  add_memory(&api);
  add_streams(&api);
  add_sharing(&api);
  add_virtual_memory(&api);
  add_code(&api);
  add_textures(&api);
  return api;
}

} // namespace

const accel_api* get_api(std::uint32_t runtime_version) {
  static const accel_api api = make_api();
  return runtime_version == ACCEL_ABI_VERSION ? &api : nullptr;
}

} // namespace cudasim::backend
