#include "cudasim/engine/code/builtin.h"

#include <unordered_map>

namespace cudasim::engine {
namespace {

/// Sources: CUDA programming guide, "Formatted output", "Assertion", "Dynamic
/// global memory allocation"; CUDA's cuda_device_runtime_api.h. Names that end
/// in _ptsz are those of nvcc --default-stream per-thread.
///
/// Of what a program calls to launch, the two functions that give a parameter
/// buffer are PTX, which adds how many launches may be outstanding
/// (runtime/code/linker).
const std::vector<BuiltinFunction>& functions() {
  using B = Builtin;
  static const auto* all = new std::vector<BuiltinFunction>{
      {"vprintf", B::kPrint, 4, {8, 8}},
      {"__assertfail", B::kAssert, 0, {8, 8, 4, 8, 8}},
      {"malloc", B::kMalloc, 8, {8}},
      {"free", B::kFree, 0, {8}},
      // alignment, bytes, outstanding launches
      {"__accelGetParameterBuffer", B::kGetParameterBuffer, 8, {8, 8, 8}},
      // kernel, grid, block, shared bytes, outstanding launches
      {"__accelGetParameterBufferV2",
       B::kGetParameterBufferV2,
       8,
       {8, 12, 12, 4, 8}},
      {"__accelSetLastError", B::kSetLastError, 4, {4}},
      {"__cudaCDP2LaunchDevice", B::kLaunchDevice, 4, {8, 8, 12, 12, 4, 8}},
      {"__cudaCDP2LaunchDevice_ptsz",
       B::kLaunchDevice,
       4,
       {8, 8, 12, 12, 4, 8}},
      {"__cudaCDP2LaunchDeviceV2", B::kLaunchDeviceV2, 4, {8, 8}},
      {"__cudaCDP2LaunchDeviceV2_ptsz", B::kLaunchDeviceV2, 4, {8, 8}},
      {"__cudaCDP2GetLastError", B::kGetLastError, 4, {}},
      {"__cudaCDP2PeekAtLastError", B::kPeekAtLastError, 4, {}},
      {"__cudaCDP2StreamCreateWithFlags", B::kStreamCreate, 4, {8, 4}},
      {"__cudaCDP2StreamDestroy", B::kStreamDestroy, 4, {8}},
      {"__cudaCDP2StreamWaitEvent", B::kStreamWaitEvent, 4, {8, 8, 4}},
      {"__cudaCDP2StreamWaitEvent_ptsz", B::kStreamWaitEvent, 4, {8, 8, 4}},
      {"__cudaCDP2EventCreateWithFlags", B::kEventCreate, 4, {8, 4}},
      {"__cudaCDP2EventRecord", B::kEventRecord, 4, {8, 8}},
      {"__cudaCDP2EventRecord_ptsz", B::kEventRecord, 4, {8, 8}},
      {"__cudaCDP2EventDestroy", B::kEventDestroy, 4, {8}},
      {"__cudaCDP2MemcpyAsync", B::kMemcpy, 4, {8, 8, 8, 4, 8}},
      {"__cudaCDP2MemcpyAsync_ptsz", B::kMemcpy, 4, {8, 8, 8, 4, 8}},
      {"__cudaCDP2Memcpy2DAsync", B::kMemcpy2D, 4, {8, 8, 8, 8, 8, 8, 4, 8}},
      {"__cudaCDP2Memcpy2DAsync_ptsz",
       B::kMemcpy2D,
       4,
       {8, 8, 8, 8, 8, 8, 4, 8}},
      {"__cudaCDP2MemsetAsync", B::kMemset, 4, {8, 4, 8, 8}},
      {"__cudaCDP2MemsetAsync_ptsz", B::kMemset, 4, {8, 4, 8, 8}},
      {"__cudaCDP2Memset2DAsync", B::kMemset2D, 4, {8, 8, 4, 8, 8, 8}},
      {"__cudaCDP2Memset2DAsync_ptsz", B::kMemset2D, 4, {8, 8, 4, 8, 8, 8}},
      {"__cudaCDP2Malloc", B::kDeviceMalloc, 4, {8, 8}},
      {"__cudaCDP2Free", B::kDeviceFree, 4, {8}},
      {"__cudaCDP2FuncGetAttributes", B::kFuncGetAttributes, 4, {8, 8}},
  };
  return *all;
}

} // namespace

const BuiltinFunction* find_builtin(std::string_view name) {
  static const auto* by_name = [] {
    auto* map =
        new std::unordered_map<std::string_view, const BuiltinFunction*>;
    for (const BuiltinFunction& function : functions()) {
      map->emplace(function.name, &function);
    }
    return map;
  }();
  const auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

Builtin builtin_named(std::string_view name) {
  const BuiltinFunction* const function = find_builtin(name);
  return function == nullptr ? Builtin::kNone : function->builtin;
}

std::string_view why_missing(std::string_view name) {
  // The names of CUDA 11's dynamic parallelism, which nvcc still writes with
  // CUDA_FORCE_CDP1_IF_SUPPORTED.
  if (name == "cudaDeviceSynchronize" || name == "cudaLaunchDevice" ||
      name == "cudaLaunchDeviceV2" || name == "cudaGetParameterBuffer" ||
      name == "cudaGetParameterBufferV2" ||
      name == "cudaStreamCreateWithFlags" || name == "cudaGetLastError") {
    return "it is of CUDA's older dynamic parallelism: compile without "
           "-DCUDA_FORCE_CDP1_IF_SUPPORTED";
  }
  if (name.rfind("__cudaCDP2", 0) == 0) {
    return "kernels cannot call it here: docs/cudasim.md lists what they can";
  }
  return "";
}

} // namespace cudasim::engine
