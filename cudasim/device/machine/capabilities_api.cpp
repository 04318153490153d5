#include "cudasim/device/machine/capabilities_api.h"

#include "cudasim/device/machine/machine.h"
#include "cudasim/device/status/guarded.h"

int accelerator_device_capabilities(int device, std::uint64_t* capabilities) {
  using namespace cudasim::device;
  return guarded([&] {
           *capabilities = machine().device(device).capabilities();
         }) == cudaSuccess
      ? 0
      : -1;
}
