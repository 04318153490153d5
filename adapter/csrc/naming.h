// What c10 calls a device, and whom it tells so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "router/import_slots/import_slots.h"

namespace torch_cuda_adapter {

using accelerator::import_slots::Redirection;

// As c10::DeviceType numbers it.
constexpr std::int8_t kCudaType = 1;

struct Naming {
  // The foreign device's c10::DeviceType, name ("musa") and dispatch key
  // ("PrivateUse1").
  std::int8_t type = -1;
  const char* name = nullptr;
  const char* dispatch_key = nullptr;
};

// What is named at present; `type` is -1 when nothing is.
Naming& naming();

// Whether the Python code that runs in this thread belongs to the device's own
// packages, which know it by its own name.
bool own_code_runs();

struct Redirections {
  const Redirection* begin;
  std::size_t count;
};

// c10's functions whose signatures have std::string, for either ABI of
// libstdc++: a process has one of them.
Redirections cxx11_redirections();
Redirections pre_cxx11_redirections();

// ATen's functions that take a device type.
Redirections autocast_redirections();

} // namespace torch_cuda_adapter
