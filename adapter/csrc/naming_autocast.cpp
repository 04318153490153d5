// ATen's functions of autocast, which PyTorch's bindings call with CUDA's type
// where a program names none: torch.is_autocast_enabled().

#include "naming.h"

namespace torch_cuda_adapter {
namespace {

void* is_enabled_original = nullptr;
void* set_enabled_original = nullptr;
void* get_dtype_original = nullptr;
void* set_dtype_original = nullptr;

std::int8_t meant(std::int8_t type) {
  return type == kCudaType && naming().type >= 0 ? naming().type : type;
}

bool is_enabled(std::int8_t type) {
  return reinterpret_cast<bool (*)(std::int8_t)>(is_enabled_original)(
      meant(type));
}

void set_enabled(std::int8_t type, bool enabled) {
  reinterpret_cast<void (*)(std::int8_t, bool)>(set_enabled_original)(
      meant(type), enabled);
}

std::int8_t get_dtype(std::int8_t type) {
  return reinterpret_cast<std::int8_t (*)(std::int8_t)>(get_dtype_original)(
      meant(type));
}

void set_dtype(std::int8_t type, std::int8_t dtype) {
  reinterpret_cast<void (*)(std::int8_t, std::int8_t)>(set_dtype_original)(
      meant(type), dtype);
}

template <typename Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

const Redirection kRedirections[] = {
    {"_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE",
     address(is_enabled),
     &is_enabled_original},
    {"_ZN2at8autocast20set_autocast_enabledEN3c1010DeviceTypeEb",
     address(set_enabled),
     &set_enabled_original},
    {"_ZN2at8autocast18get_autocast_dtypeEN3c1010DeviceTypeE",
     address(get_dtype),
     &get_dtype_original},
    {"_ZN2at8autocast18set_autocast_dtypeEN3c1010DeviceTypeENS1_10ScalarTypeE",
     address(set_dtype),
     &set_dtype_original},
};

} // namespace

Redirections autocast_redirections() {
  return {kRedirections, sizeof(kRedirections) / sizeof(kRedirections[0])};
}

} // namespace torch_cuda_adapter
