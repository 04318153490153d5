// What is known of a kernel and of a variable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/abi/device_api.h"

namespace accelerator::runtime {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint64_t count() const {
    return std::uint64_t{x} * y * z;
  }
};

/// What can be said of a kernel before it runs.
struct KernelInfo {
  std::vector<accel_parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t constant_bytes = 0; // of variables that it reads
  std::uint64_t local_bytes = 0; // per thread
  std::uint32_t registers = 0; // per thread
  std::uint32_t max_threads = 1024; // per block
  std::uint32_t code_version = 0; // 80 for code for 8.0
  Dim3 required_threads{0, 0, 0}; // zeros: any
};

/// A variable of a loaded module.
struct Symbol {
  std::string name;
  std::uint64_t address = 0; // on the device
  std::uint64_t size = 0; // bytes
  bool is_const = false;
};

} // namespace accelerator::runtime
