#include "device/nvidia/driver/driver.h"

#include <dlfcn.h>

#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

constexpr const char* kSystems = "libcuda.so.1";

Driver& functions() {
  static auto* all = new Driver;
  return *all;
}

void* open_library(const std::string& path) {
  const std::string name = path.empty() ? kSystems : path;
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(
        ACCEL_NOT_FOUND,
        std::string("CUDA's driver cannot be opened: ") + dlerror() +
            "; install NVIDIA's driver, or write library=PATH of its " +
            kSystems);
  }
  // The loader gives what the process has under that name, which may be the
  // runtime that calls this.
  if (path.empty() && dlsym(library, "accelerator_driver_version") != nullptr) {
    throw Error(
        ACCEL_NOT_FOUND,
        std::string(kSystems) +
            " of this process is torch_cuda's own; write library=PATH of the "
            "one of NVIDIA's driver");
  }
  return library;
}

} // namespace

void open_driver(const std::string& path) {
  void* library = open_library(path);
  const auto find = reinterpret_cast<decltype(&::cuGetProcAddress)>(
      dlsym(library, "cuGetProcAddress_v2"));
  Driver found;
  std::string missing = find == nullptr ? "cuGetProcAddress_v2" : "";
  const auto look_up = [&](const char* name, auto& place) {
    void* address = nullptr;
    if (find != nullptr &&
        (find(
             name,
             &address,
             CUDA_VERSION,
             CU_GET_PROC_ADDRESS_DEFAULT,
             nullptr) != CUDA_SUCCESS ||
         address == nullptr)) {
      missing += (missing.empty() ? "" : ", ") + std::string(name);
    }
    place = reinterpret_cast<std::decay_t<decltype(place)>>(address);
  };
#define ACCEL_NVIDIA_LOOK_UP(name) look_up(#name, found.name);
  ACCEL_NVIDIA_FUNCTIONS(ACCEL_NVIDIA_LOOK_UP)
#undef ACCEL_NVIDIA_LOOK_UP
  require(
      missing.empty(),
      ACCEL_NOT_FOUND,
      "CUDA's driver has no " + missing +
          "; needed is one for CUDA 12.4 or later (550)");
  functions() = found;
}

const Driver& driver() {
  return functions();
}

} // namespace accelerator::nvidia
