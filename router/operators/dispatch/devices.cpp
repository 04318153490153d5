// One question for each device, once a process.
#include "router/operators/dispatch/devices.h"

#include "device/abi/device_api.h"
#include "router/operators/dispatch/runtime.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

// runtime/core/machine/capabilities_api.h
using Capabilities = int (*)(int device, std::uint64_t* capabilities);

// runtime/core/modules/library_code.h
using HasPtx = int (*)(const void* address);

using EmptyCuda =
    at::TensorBase (*)(c10::IntArrayRef, const c10::TensorOptions&);

// What a device of NVIDIA's runtime can do.
struct Answer {
  bool runs_code = true;
  bool serves_itself = true;
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
        "host cannot access the memory of NVIDIA's devices. Needed is a build with "
        "kernels (--//config:ops=core), or TORCH_CUDA_DEVICES with a device whose "
        "memory the host can access, such as TORCH_CUDA_DEVICES=sim.");
    return answers;
  }
  for (int device = 0; device < count; ++device) {
    std::uint64_t bits = 0;
    TORCH_CHECK(
        capabilities(device, &bits) == 0,
        "torch_cuda: the runtime does not say what cuda:",
        device,
        " can do");
    const bool runs_code = (bits & ACCEL_CAP_CODE) != 0;
    answers[device] = {
        runs_code,
        runs_code && can_run_upstreams_kernels(),
        (bits & ACCEL_CAP_HOST_VISIBLE) != 0};
  }
  return answers;
}

const std::vector<Answer>& answers() {
  static const std::vector<Answer> answers = ask();
  return answers;
}

// Its allocation of tensors lies beside its kernels.
const void* in_libtorch_cuda() {
  return reinterpret_cast<const void*>(
      static_cast<EmptyCuda>(&at::detail::empty_cuda));
}

const void* in_libtorch_cpu() {
  return &c10::Dispatcher::singleton();
}

// Where a loaded library lies. dladdr looks through all its symbols for the
// nearest, which nobody asks here: of thousands of kernels that takes seconds.
struct Library {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::string path;
};

// The libraries, as long as none is loaded or unloaded.
struct Libraries {
  unsigned long long changes = 0;
  std::vector<Library> all;
};

int add_library(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& libraries = *static_cast<Libraries*>(data);
  const auto changes = info->dlpi_adds + info->dlpi_subs;
  if (libraries.changes == changes && !libraries.all.empty() &&
      libraries.all.front().path == info->dlpi_name) {
    return 1;
  }
  if (libraries.changes != changes) {
    libraries.all.clear();
    libraries.changes = changes;
  }
  Library library{UINTPTR_MAX, 0, info->dlpi_name};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      const auto begin = info->dlpi_addr + segment.p_vaddr;
      library.begin = std::min<std::uintptr_t>(library.begin, begin);
      library.end =
          std::max<std::uintptr_t>(library.end, begin + segment.p_memsz);
    }
  }
  libraries.all.push_back(std::move(library));
  return 0;
}

std::string library_of(const void* address) {
  static Libraries libraries;
  dl_iterate_phdr(&add_library, &libraries);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const auto& library : libraries.all) {
    if (library.begin <= at && at < library.end) {
      return library.path;
    }
  }
  return "";
}

bool is_served_by_itself(const Answer& answer) {
  return answer.serves_itself;
}

} // namespace

bool has_upstreams_kernels() {
  static const bool has = c10::Dispatcher::singleton()
                              .findSchemaOrThrow("aten::empty", "memory_format")
                              .hasKernelForDispatchKey(c10::DispatchKey::CUDA);
  return has;
}

LibraryCode code_of_library(const void* address) {
  static const auto has_ptx =
      reinterpret_cast<HasPtx>(runtime_function("accelerator_library_has_ptx"));
  const int answer = has_ptx == nullptr ? 1 : has_ptx(address);
  return answer < 0 ? LibraryCode::kNone
      : answer == 0 ? LibraryCode::kMachineCode
                    : LibraryCode::kPtx;
}

std::string folder_of_pytorch() {
  // FOLDER/lib/libtorch_cpu.so
  const std::string path = library_of(in_libtorch_cpu());
  return path.substr(0, path.rfind('/', path.rfind('/') - 1) + 1);
}

bool is_in_pytorch(const void* address) {
  const std::string library = library_of(address);
  return !library.empty() &&
      (library.find(folder_of_pytorch()) == 0 ||
       library == library_of(in_libtorch_cuda()));
}

bool can_run_upstreams_kernels() {
  static const bool can = has_upstreams_kernels() &&
      code_of_library(in_libtorch_cuda()) != LibraryCode::kMachineCode;
  return can;
}

bool has_machine_code_only() {
  static const bool only =
      has_upstreams_kernels() && !can_run_upstreams_kernels();
  return only;
}

bool runs_code(c10::DeviceIndex device) {
  const auto& all = answers();
  const auto index = static_cast<size_t>(device);
  // Who uses a device that there is not gets upstream's error.
  return index >= all.size() || all[index].runs_code;
}

bool serves_itself(c10::DeviceIndex device) {
  const auto& all = answers();
  const auto index = static_cast<size_t>(device);
  return index >= all.size() || all[index].serves_itself;
}

bool host_sees(c10::DeviceIndex device) {
  const auto& all = answers();
  const auto index = static_cast<size_t>(device);
  return index < all.size() && all[index].seen;
}

bool all_serve_themselves() {
  const auto& all = answers();
  return std::all_of(all.begin(), all.end(), is_served_by_itself);
}

bool mixed() {
  const auto& all = answers();
  return !all_serve_themselves() &&
      std::any_of(all.begin(), all.end(), is_served_by_itself);
}

} // namespace torch_cuda::operators
