// Notes of what was registered.
#include "router/operators/dispatch/served.h"

#include "router/operators/dispatch/devices.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace torch_cuda::operators {
namespace {

struct Vendors {
  std::string vendor;
  std::vector<c10::DeviceIndex> devices;
};

// Filled once, when operators are routed; never destroyed.
struct Notes {
  std::unordered_set<c10::OperatorName> hosts;
  std::unordered_set<c10::OperatorName> refused;
  std::unordered_map<c10::OperatorName, std::vector<Vendors>> vendors;
};

Notes& notes() {
  static auto* all = new Notes;
  return *all;
}

c10::OperatorName parse(std::string_view name) {
  const auto dot = name.find('.');
  return dot == std::string_view::npos
      ? c10::OperatorName(std::string(name), "")
      : c10::OperatorName(
            std::string(name.substr(0, dot)),
            std::string(name.substr(dot + 1)));
}

} // namespace

void note_hosts(const c10::OperatorName& name) {
  notes().hosts.insert(name);
}

void note_refused(const c10::OperatorName& name) {
  notes().refused.insert(name);
}

void note_vendors(
    const c10::OperatorName& name,
    const std::string& vendor,
    const std::vector<c10::DeviceIndex>& devices) {
  notes().vendors[name].push_back({vendor, devices});
}

std::string server_of(const c10::OperatorName& name, c10::DeviceIndex device) {
  const auto found = notes().vendors.find(name);
  if (found != notes().vendors.end()) {
    for (const auto& [vendor, devices] : found->second) {
      if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
        return vendor;
      }
    }
  }
  if (!serves_itself(device) && notes().hosts.count(name) != 0) {
    return "host";
  }
  if (!serves_itself(device) && notes().refused.count(name) != 0) {
    return "none";
  }
  const auto op = c10::Dispatcher::singleton().findOp(name);
  return op && op->hasKernelForDispatchKey(c10::DispatchKey::CUDA)
      ? "upstream"
      : "composite";
}

} // namespace torch_cuda::operators

int torch_cuda_served_by(
    const char* name,
    int device,
    char* text,
    std::size_t capacity) {
  const auto parsed = torch_cuda::operators::parse(name);
  if (!c10::Dispatcher::singleton().findOp(parsed)) {
    return -1;
  }
  const std::string server = torch_cuda::operators::server_of(
      parsed, static_cast<c10::DeviceIndex>(device));
  std::snprintf(text, capacity, "%s", server.c_str());
  return 0;
}
