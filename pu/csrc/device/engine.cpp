// The engine asks at::accelerator::isAccelerator, by a slot of the dynamic
// linker in libtorch_cpu.so. The slot gets a function that says no of cuda to
// autograd, and to nobody else.
#include "pu/csrc/device/engine.h"

#include "router/import_slots/import_slots.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

namespace torch_pu {
namespace {

// As c10::DeviceType numbers it.
constexpr std::int8_t kCudaType = 1;

void* original = nullptr;

bool is_of_autograd(void* caller) {
  Dl_info found;
  return dladdr(caller, &found) != 0 && found.dli_sname != nullptr &&
      std::strstr(found.dli_sname, "N5torch8autograd") != nullptr;
}

// Calls come from a few places, millions of times.
class Callers {
 public:
  bool are_autograd(void* caller) {
    for (auto& place : places_) {
      void* known = place.caller.load(std::memory_order_acquire);
      if (known == caller) {
        return place.autograd.load(std::memory_order_acquire) == 1;
      }
      if (known == nullptr) {
        const bool autograd = is_of_autograd(caller);
        if (place.claimed.exchange(true)) {
          return autograd;
        }
        place.autograd.store(autograd ? 1 : 0, std::memory_order_release);
        place.caller.store(caller, std::memory_order_release);
        return autograd;
      }
    }
    return is_of_autograd(caller);
  }

 private:
  struct Place {
    std::atomic<bool> claimed{false};
    std::atomic<void*> caller{nullptr};
    std::atomic<int> autograd{0};
  };
  std::array<Place, 16> places_;
};

Callers callers;

bool is_accelerator(std::int8_t type) {
  const bool found = reinterpret_cast<bool (*)(std::int8_t)>(original)(type);
  return found &&
      !(type == kCudaType && callers.are_autograd(__builtin_return_address(0)));
}

const accelerator::import_slots::Redirection kRedirection = {
    "_ZN2at11accelerator13isAcceleratorEN3c1010DeviceTypeE",
    reinterpret_cast<void*>(&is_accelerator),
    &original};

} // namespace

void let_cuda_go_backward() {
  accelerator::import_slots::find_originals(
      "libtorch_cpu.so", &kRedirection, 1);
  Dl_info found;
  if (original == nullptr || dladdr(original, &found) == 0) {
    return; // a torch that does not ask
  }
  const std::string cpu = found.dli_fname;
  const std::string python =
      cpu.substr(0, cpu.rfind('/') + 1) + "libtorch_python.so";
  const char* const skipped[] = {python.c_str(), nullptr};
  accelerator::import_slots::redirect(&kRedirection, 1, skipped);
}

} // namespace torch_pu
