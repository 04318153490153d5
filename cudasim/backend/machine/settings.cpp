#include "cudasim/backend/machine/settings.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include "cudasim/backend/machine/gpu_models.h"
#include "cudasim/engine/translation/regions.h"
#include "device/host/environment.h"

namespace cudasim::backend {
namespace {

using accelerator::host::parse_size;
using accelerator::host::read_count;
using accelerator::host::read_switch;
using accelerator::host::reject;
using accelerator::host::variable;

constexpr int kMaxDevices = 16;

// What the control group of a container leaves may be less than what is built
// into the machine.
std::uint64_t host_memory() {
  std::uint64_t bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
      static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::uint64_t allowed = 0;
  if (limit >> allowed && allowed > 0) {
    bytes = std::min(bytes, allowed);
  }
  return bytes;
}

int parse_count(const std::string& options) {
  const std::string key = "count=";
  std::size_t length = 0;
  int count = -1;
  if (options.compare(0, key.size(), key) == 0) {
    try {
      count = std::stoi(options.substr(key.size()), &length);
    } catch (const std::exception&) {
      count = -1;
    }
  }
  if (count < 0 || count > kMaxDevices ||
      length + key.size() != options.size()) {
    throw std::invalid_argument(
        "the option \"" + options +
        "\" of the device sim is not known: write count=N with N from 0 to " +
        std::to_string(kMaxDevices) +
        ", or nothing; docs/cudasim.md has the environment variables");
  }
  return count;
}

// Who asks for all kernels as native code is not to get interpreted ones: tests
// would pass that test something else.
void check_native(const Settings& settings) {
  const std::string mode = variable("CUDASIM_NATIVE").value_or("");
  if (!mode.empty() && mode != "off" && mode != "auto" && mode != "always") {
    reject("CUDASIM_NATIVE", mode, "write off, auto or always");
  }
  if (mode != "always") {
    return;
  }
  if (settings.check || !settings.count_file.empty()) {
    reject(
        "CUDASIM_NATIVE",
        mode,
        "unset it, or CUDASIM_CHECK and CUDASIM_COUNT, which interpret");
  }
  const std::string obstacle = engine::native_obstacle();
  if (!obstacle.empty()) {
    throw std::invalid_argument("CUDASIM_NATIVE=always " + obstacle);
  }
}

} // namespace

Settings read_settings(const std::string& options) {
  Settings settings;
  if (const auto model = variable("CUDASIM_PROFILE")) {
    if (find_gpu_model(*model) == nullptr) {
      reject("CUDASIM_PROFILE", *model, "write " + gpu_model_names());
    }
    settings.gpu_model = *model;
  }
  settings.device_name = variable("CUDASIM_NAME").value_or("");
  if (settings.device_name.size() >= sizeof(accel_properties::name)) {
    reject(
        "CUDASIM_NAME",
        settings.device_name,
        "write model, or a name of at most 255 characters");
  }
  settings.devices = options.empty()
      ? static_cast<int>(read_count("CUDASIM_DEVICES", 1, 0, kMaxDevices))
      : parse_count(options);
  settings.memory =
      std::max<std::uint64_t>(host_memory() / 2, std::uint64_t{1} << 30);
  if (const auto memory = variable("CUDASIM_MEMORY")) {
    const auto bytes = parse_size(*memory);
    if (!bytes) {
      reject("CUDASIM_MEMORY", *memory, "write a size such as 512M or 8G");
    }
    settings.memory = *bytes;
  }
  settings.synchronous = read_switch("CUDASIM_SYNC", false);
  settings.check = read_switch("CUDASIM_CHECK", false);
  const std::string padding = variable("CUDASIM_PADDING").value_or("fault");
  if (padding != "fault" && padding != "read") {
    reject("CUDASIM_PADDING", padding, "write fault or read");
  }
  settings.padding = padding == "read";
  settings.count_file = variable("CUDASIM_COUNT").value_or("");
  if (settings.check && !settings.count_file.empty()) {
    reject(
        "CUDASIM_COUNT",
        settings.count_file,
        "unset it, or CUDASIM_CHECK: a launch is checked or counted");
  }
  const long processors = std::max(1u, std::thread::hardware_concurrency());
  settings.workers =
      static_cast<unsigned>(read_count("CUDASIM_WORKERS", processors, 1, 1024));
  if (settings.synchronous) {
    settings.workers = 1;
  }
  check_native(settings);
  const std::string targets = variable("CUDASIM_PTX_TARGETS").value_or("");
  if (!targets.empty() && targets != "strict" && targets != "lenient") {
    reject("CUDASIM_PTX_TARGETS", targets, "write strict or lenient");
  }
  // The engine asks itself, and takes what is wrong for 0.
  read_switch("CUDASIM_OPTIMIZE", false);
  // The runtime has read it before, and told of the older name.
  const char* timeout =
      variable("TORCH_CUDA_TIMEOUT") ? "TORCH_CUDA_TIMEOUT" : "CUDASIM_TIMEOUT";
  settings.timeout_seconds =
      static_cast<double>(read_count(timeout, 600, 0, 1'000'000));
  return settings;
}

} // namespace cudasim::backend
