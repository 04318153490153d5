// Which processes use a device, and what they do there: those whose files this
// process may look at, as those of its user.
// Source: NVML API reference, device queries and accounting.
#include <nvml.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/tools/nvml/query.h"

using namespace accelerator::runtime;
using namespace accelerator::nvml;

#undef nvmlDeviceGetComputeRunningProcesses
#undef nvmlDeviceGetGraphicsRunningProcesses
#undef nvmlDeviceGetMPSComputeRunningProcesses

namespace {

constexpr unsigned kNoInstance = ~0u; // not of MIG

unsigned percent(bool busy) {
  return busy ? 100 : 0;
}

/// Writes a list as NVML does: `count` says how much there is room for, and
/// gets how much there is.
template <typename Info, typename Convert>
nvmlReturn_t write_list(
    const std::vector<Usage>& usages,
    unsigned* count,
    Info* infos,
    Convert&& convert) {
  const auto room = *count;
  *count = static_cast<unsigned>(usages.size());
  if (usages.size() > room || (infos == nullptr && !usages.empty())) {
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  for (std::size_t i = 0; i < usages.size(); ++i) {
    infos[i] = convert(usages[i]);
  }
  return NVML_SUCCESS;
}

template <typename Info>
nvmlReturn_t list_processes(nvmlDevice_t device, unsigned* count, Info* infos) {
  return ask(device, count, [&](unsigned number) {
    return write_list(usages_of(number), count, infos, [](const Usage& usage) {
      Info info{};
      info.pid = static_cast<unsigned>(usage.process);
      info.usedGpuMemory = usage.bytes;
      if constexpr (!std::is_same_v<Info, nvmlProcessInfo_v1_t>) {
        info.gpuInstanceId = kNoInstance;
        info.computeInstanceId = kNoInstance;
      }
      return info;
    });
  });
}

} // namespace

std::vector<Usage> accelerator::nvml::usages_of(unsigned number) {
  const Properties p = properties_of(number);
  return usage_of(reinterpret_cast<const unsigned char(&)[16]>(p.uuid.bytes));
}

extern "C" {

/// Whether there is work, at the moment: how much of a device is in use is not
/// seen.
nvmlReturn_t nvmlDeviceGetUtilizationRates(
    nvmlDevice_t device,
    nvmlUtilization_t* rates) {
  return ask(device, rates, [&](unsigned number) {
    const auto usages = usages_of(number);
    const unsigned share = percent(
        std::any_of(usages.begin(), usages.end(), [](const Usage& usage) {
          return usage.busy;
        }));
    *rates = {share, share};
    return NVML_SUCCESS;
  });
}

#define NVML_PROCESSES(name, type)                                       \
  nvmlReturn_t name(nvmlDevice_t device, unsigned* count, type* infos) { \
    return list_processes(device, count, infos);                         \
  }

NVML_PROCESSES(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t)
NVML_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t)
NVML_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t)

// Devices compute, and have no server of MPS.
#define NVML_NO_PROCESSES(name, type)                              \
  nvmlReturn_t name(nvmlDevice_t device, unsigned* count, type*) { \
    return ask(device, count, [&](unsigned) {                      \
      *count = 0;                                                  \
      return NVML_SUCCESS;                                         \
    });                                                            \
  }

NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t)
NVML_NO_PROCESSES(
    nvmlDeviceGetGraphicsRunningProcesses_v2,
    nvmlProcessInfo_v2_t)
NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t)
NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t)
NVML_NO_PROCESSES(
    nvmlDeviceGetMPSComputeRunningProcesses_v2,
    nvmlProcessInfo_v2_t)
NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t)

/// One sample of each process, of now.
nvmlReturn_t nvmlDeviceGetProcessUtilization(
    nvmlDevice_t device,
    nvmlProcessUtilizationSample_t* samples,
    unsigned* count,
    unsigned long long) {
  return ask(device, count, [&](unsigned number) {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const auto usages = usages_of(number);
    if (usages.empty()) {
      *count = 0;
      return NVML_ERROR_NOT_FOUND;
    }
    return write_list(usages, count, samples, [&](const Usage& usage) {
      nvmlProcessUtilizationSample_t sample{};
      sample.pid = static_cast<unsigned>(usage.process);
      sample.timeStamp = static_cast<unsigned long long>(now.count());
      sample.smUtil = percent(usage.busy);
      sample.memUtil = sample.smUtil;
      return sample;
    });
  });
}

nvmlReturn_t nvmlSystemGetProcessName(
    unsigned process,
    char* name,
    unsigned length) {
  const nvmlReturn_t result = check(length > 0 ? name : nullptr);
  if (result != NVML_SUCCESS) {
    return result;
  }
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
  std::string program; // the first of its arguments
  if (!std::getline(file, program, '\0')) {
    return NVML_ERROR_NOT_FOUND;
  }
  // As much of it as fits.
  return write(program.substr(0, length - 1), name, length);
}

} // extern "C"
