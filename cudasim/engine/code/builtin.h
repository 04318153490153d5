// Names of the device runtime's functions that kernels call. What they do is in
// warp/builtins.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace cudasim::engine {

/// Functions of CUDA's device runtime that modules only declare.
enum class Builtin : std::uint8_t {
  kNone,
  kPrint, // vprintf
  kAssert, // __assertfail
  kMalloc,
  kFree,
};

/// A function of the device runtime; kNone for all others.
Builtin builtin_named(std::string_view name);

} // namespace cudasim::engine
