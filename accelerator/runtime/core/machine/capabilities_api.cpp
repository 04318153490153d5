#include "accelerator/runtime/core/machine/capabilities_api.h"

#include "accelerator/runtime/core/machine/machine.h"
#include "accelerator/runtime/core/status/guarded.h"

int accelerator_device_capabilities(int device, std::uint64_t* capabilities) {
  using namespace accelerator::runtime;
  return guarded([&] {
           *capabilities = machine().device(device).capabilities();
         }) == cudaSuccess
      ? 0
      : -1;
}
