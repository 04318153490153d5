// One question for each device, once a process.
#include "accelerator/operators/dispatch/devices.h"

#include "accelerator/abi/device_api.h"
#include "accelerator/operators/dispatch/runtime.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace torch_cuda::operators {
namespace {

// accelerator/runtime/core/machine/capabilities_api.h
using Capabilities = int (*)(int device, std::uint64_t* capabilities);

// One element for each device.
std::vector<bool> ask() {
  const int count = c10::cuda::device_count();
  std::vector<bool> runs_code(count, true);
  const auto capabilities = reinterpret_cast<Capabilities>(
      runtime_function("accelerator_device_capabilities"));
  if (capabilities == nullptr) {
    TORCH_CHECK(
        has_upstreams_kernels() || count == 0,
        "torch_cuda: this build has no kernels (--//config:ops=runtime), and the "
        "devices are those of NVIDIA's runtime, whose memory the host does not "
        "see. Needed is a build with kernels (--//config:ops=core), or "
        "TORCH_CUDA_DEVICES with a device whose memory the host sees.");
    return runs_code;
  }
  for (int device = 0; device < count; ++device) {
    std::uint64_t bits = 0;
    TORCH_CHECK(
        capabilities(device, &bits) == 0,
        "torch_cuda: the runtime does not say what cuda:",
        device,
        " can do");
    runs_code[device] = has_upstreams_kernels() && (bits & ACCEL_CAP_CODE) != 0;
    TORCH_CHECK(
        runs_code[device] || (bits & ACCEL_CAP_HOST_VISIBLE) != 0,
        "torch_cuda: cuda:",
        device,
        has_upstreams_kernels()
            ? " runs no CUDA code"
            : " has no kernels in this build (--//config:ops=runtime)",
        ", and the host does not see its memory, so that no kernel can serve "
        "its tensors. Needed is a device with one of both. Leave it out of "
        "TORCH_CUDA_DEVICES or CUDA_VISIBLE_DEVICES.");
  }
  return runs_code;
}

const std::vector<bool>& answers() {
  static const std::vector<bool> answers = ask();
  return answers;
}

} // namespace

bool has_upstreams_kernels() {
  static const bool has = c10::Dispatcher::singleton()
                              .findSchemaOrThrow("aten::empty", "memory_format")
                              .hasKernelForDispatchKey(c10::DispatchKey::CUDA);
  return has;
}

bool serves_itself(c10::DeviceIndex device) {
  const auto& all = answers();
  const auto index = static_cast<size_t>(device);
  // Who uses a device that there is not gets upstream's error.
  return index >= all.size() || all[index];
}

bool all_serve_themselves() {
  const auto& all = answers();
  return std::find(all.begin(), all.end(), false) == all.end();
}

bool mixed() {
  const auto& all = answers();
  return !all_serve_themselves() &&
      std::find(all.begin(), all.end(), true) != all.end();
}

} // namespace torch_cuda::operators
