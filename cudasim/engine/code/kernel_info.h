// What is known of a kernel by looking at it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/code/dim3.h"

namespace cudasim::engine {

/// What can be said of a kernel before it runs.
struct KernelInfo {
  std::string name;
  /// Offset and size in bytes of each parameter in the parameter buffer.
  struct Parameter {
    std::uint32_t offset;
    std::uint32_t size;
  };
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t constant_bytes = 0; // of variables that it or a callee reads
  std::uint64_t local_bytes = 0; // per thread, without calls' frames
  std::uint32_t registers = 0; // per thread, an estimate in 32-bit registers
  std::uint32_t max_threads = 1024; // per block, by .maxntid
  std::uint32_t ptx_target = 0; // 80 for ".target sm_80"
  Dim3 required_threads{0, 0, 0}; // by .reqntid; zeros: not given
};

} // namespace cudasim::engine
