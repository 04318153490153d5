// A kernel that is ready to run, with the functions it calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/code/kernel_info.h"

namespace cudasim::ptx {
struct Function;
}

namespace cudasim::engine {

class Kernel {
 public:
  KernelInfo info;
  const Code* entry = nullptr;
  /// The entry and everything it calls, directly or through an address.
  std::vector<std::unique_ptr<Code>> codes;
  /// By the address that PTX sees of a function (function_address).
  std::map<std::uint64_t, const Code*> functions;
  /// Where dynamic shared memory begins in a block's shared memory.
  std::uint64_t dynamic_shared_offset = 0;
  bool has_calls = false;
  bool allocates = false; // alloca, in any of the codes
  bool uses_reserved_shared = false; // reads an offset of it
  bool launches = false; // asks the device runtime for work
};

/// What a kernel reads as the address of a function.
inline std::uint64_t function_address(const ptx::Function& function) {
  return reinterpret_cast<std::uint64_t>(&function);
}

} // namespace cudasim::engine
