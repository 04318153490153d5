// c10's naming functions, for one ABI of std::string: compiled twice, with
// _GLIBCXX_USE_CXX11_ABI 0 and 1. c10's types are passed as the integers that
// they are: no header of torch is needed, and any torch will do.

#include <cstring>
#include <string>

#include "naming.h"

#if _GLIBCXX_USE_CXX11_ABI
#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define RETURNS_STRING "B5cxx11"
#define REDIRECTIONS cxx11_redirections
#else
#define STRING "Ss"
#define RETURNS_STRING ""
#define REDIRECTIONS pre_cxx11_redirections
#endif

namespace torch_cuda_adapter {
namespace {

using DeviceTypeName = std::string (*)(std::int8_t, bool);
using ConstructDevice = void (*)(void*, const std::string&);
using ParseDispatchKey = std::uint16_t (*)(const std::string&);

void* device_type_name_original = nullptr;
void* construct_device_original = nullptr;
void* parse_dispatch_key_original = nullptr;

// c10::DeviceTypeName(DeviceType, bool lower_case)
std::string device_type_name(std::int8_t type, bool lower_case) {
  if (type == naming().type && !own_code_runs()) {
    return lower_case ? "cuda" : "CUDA";
  }
  return reinterpret_cast<DeviceTypeName>(device_type_name_original)(
      type, lower_case);
}

// The index of "cuda" (-1) and of "cuda:1". Others keep their text, for c10's
// own error: -2.
int cuda_index(const std::string& text) {
  if (text.compare(0, 4, "cuda") != 0) {
    return -2;
  }
  if (text.size() == 4) {
    return -1;
  }
  const std::size_t digits = text.size() - 5;
  if (text[4] != ':' || digits < 1 || digits > 3 ||
      (digits > 1 && text[5] == '0')) {
    return -2;
  }
  int index = 0;
  for (std::size_t i = 5; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') {
      return -2;
    }
    index = index * 10 + (text[i] - '0');
  }
  return index <= INT8_MAX ? index : -2;
}

// c10::Device::Device(const std::string&): a device is its type and its index,
// a byte each. module.cpp lets Python check that before naming begins.
void construct_device(void* self, const std::string& text) {
  const int index = naming().type >= 0 ? cuda_index(text) : -2;
  if (index == -2) {
    reinterpret_cast<ConstructDevice>(construct_device_original)(self, text);
    return;
  }
  auto* bytes = static_cast<std::int8_t*>(self);
  bytes[0] = naming().type;
  bytes[1] = static_cast<std::int8_t>(index);
}

// c10::parseDispatchKey(const std::string&): "AutogradCUDA" and its like.
std::uint16_t parse_dispatch_key(const std::string& text) {
  const auto original =
      reinterpret_cast<ParseDispatchKey>(parse_dispatch_key_original);
  const auto size = text.size();
  if (naming().type >= 0 && size >= 4 &&
      text.compare(size - 4, 4, "CUDA") == 0) {
    return original(text.substr(0, size - 4) + naming().dispatch_key);
  }
  return original(text);
}

template <typename Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

const Redirection kRedirections[] = {
    {"_ZN3c1014DeviceTypeName" RETURNS_STRING "ENS_10DeviceTypeEb",
     address(device_type_name),
     &device_type_name_original},
    {"_ZN3c106DeviceC1ERK" STRING,
     address(construct_device),
     &construct_device_original},
    {"_ZN3c106DeviceC2ERK" STRING,
     address(construct_device),
     &construct_device_original},
    {"_ZN3c1016parseDispatchKeyERK" STRING,
     address(parse_dispatch_key),
     &parse_dispatch_key_original},
};

} // namespace

Redirections REDIRECTIONS() {
  return {kRedirections, sizeof(kRedirections) / sizeof(kRedirections[0])};
}

} // namespace torch_cuda_adapter
