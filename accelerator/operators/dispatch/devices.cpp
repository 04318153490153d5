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

struct Answer {
  bool runs_code = true;
  bool seen = false;
};

// One element for each device.
std::vector<Answer> ask() {
  const int count = c10::cuda::device_count();
  std::vector<Answer> answers(count);
  const auto capabilities = reinterpret_cast<Capabilities>(
      runtime_function("accelerator_device_capabilities"));
  if (capabilities == nullptr) {
    TORCH_CHECK(
        has_upstreams_kernels() || count == 0,
        "torch_cuda: this build has no kernels (--//config:ops=runtime), and the "
        "devices are those of NVIDIA's runtime, whose memory the host does not "
        "see. Needed is a build with kernels (--//config:ops=core), or "
        "TORCH_CUDA_DEVICES with a device whose memory the host sees.");
    return answers;
  }
  for (int device = 0; device < count; ++device) {
    std::uint64_t bits = 0;
    TORCH_CHECK(
        capabilities(device, &bits) == 0,
        "torch_cuda: the runtime does not say what cuda:",
        device,
        " can do");
    answers[device] = {
        has_upstreams_kernels() && (bits & ACCEL_CAP_CODE) != 0,
        (bits & ACCEL_CAP_HOST_VISIBLE) != 0};
  }
  return answers;
}

const std::vector<Answer>& answers() {
  static const std::vector<Answer> answers = ask();
  return answers;
}

bool runs_code(const Answer& answer) {
  return answer.runs_code;
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
  return index >= all.size() || all[index].runs_code;
}

bool host_sees(c10::DeviceIndex device) {
  const auto& all = answers();
  const auto index = static_cast<size_t>(device);
  return index < all.size() && all[index].seen;
}

bool all_serve_themselves() {
  const auto& all = answers();
  return std::all_of(all.begin(), all.end(), runs_code);
}

bool mixed() {
  const auto& all = answers();
  return !all_serve_themselves() &&
      std::any_of(all.begin(), all.end(), runs_code);
}

} // namespace torch_cuda::operators
