// The functions of the device runtime that kernels call and modules only
// declare: their names and what they take. What they do is in warp/builtins.h
// and device_runtime/functions.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cudasim::engine {

/// Functions of CUDA's device runtime that modules only declare.
enum class Builtin : std::uint8_t {
  kNone,
  kPrint, // vprintf
  kAssert, // __assertfail
  kMalloc,
  kFree,
  // From here on those of kernels that launch kernels.
  kGetParameterBuffer,
  kGetParameterBufferV2,
  kLaunchDevice,
  kLaunchDeviceV2,
  kGetLastError,
  kPeekAtLastError,
  kSetLastError,
  kStreamCreate,
  kStreamDestroy,
  kStreamWaitEvent,
  kEventCreate,
  kEventRecord,
  kEventDestroy,
  kMemcpy,
  kMemcpy2D,
  kMemset,
  kMemset2D,
  kDeviceMalloc,
  kDeviceFree,
  kFuncGetAttributes,
};

/// A function's name and the bytes of what it takes and gives.
struct BuiltinFunction {
  std::string_view name;
  Builtin builtin;
  std::uint8_t result; // 0: none
  std::vector<std::uint8_t> parameters;
};

/// A function of the device runtime; null for all others.
const BuiltinFunction* find_builtin(std::string_view name);

/// The same without its parameters; kNone for all others.
Builtin builtin_named(std::string_view name);

/// Whether the function belongs to kernels that launch kernels.
constexpr bool is_for_launching(Builtin builtin) {
  return builtin >= Builtin::kGetParameterBuffer;
}

/// Why there is no function of that name, where it is one of CUDA's that the
/// device does not have; empty for all others.
std::string_view why_missing(std::string_view name);

} // namespace cudasim::engine
