#include "runtime/core/machine/capabilities_api.h"

#include <dlfcn.h>

#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime {
namespace {

template <typename Question>
int answer(int device, Question&& question) noexcept {
  const Status status = guarded([&] { question(machine().device(device)); });
  return status == cudaSuccess ? 0 : -1;
}

} // namespace
} // namespace accelerator::runtime

using accelerator::runtime::Device;

int accelerator_device_capabilities(int device, std::uint64_t* capabilities) {
  return accelerator::runtime::answer(
      device, [&](const Device& of) { *capabilities = of.capabilities(); });
}

int accelerator_device_library(
    int device,
    const char** name,
    const char** file) {
  return accelerator::runtime::answer(device, [&](const Device& of) {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(of.api().initialize), &info);
    *name = of.api().name;
    *file = info.dli_fname == nullptr ? "" : info.dli_fname;
  });
}

int accelerator_device_fail(int device, int status) {
  using namespace accelerator::runtime;
  return guarded([&] {
           require(status != cudaSuccess);
           machine().device(device).set_fault(static_cast<Status>(status));
         }) == cudaSuccess
      ? 0
      : -1;
}
