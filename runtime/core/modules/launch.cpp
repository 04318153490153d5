#include "runtime/core/modules/launch.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/core/machine/device.h"
#include "runtime/core/modules/occupancy.h"

namespace accelerator::runtime {
std::vector<std::byte> pack_parameters(
    const KernelInfo& info,
    void** arguments) {
  std::vector<std::byte> packed(info.parameter_bytes);
  require(info.parameters.empty() || arguments != nullptr);
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const auto& parameter = info.parameters[i];
    require(arguments[i] != nullptr);
    std::memcpy(packed.data() + parameter.offset, arguments[i], parameter.size);
  }
  return packed;
}

std::vector<std::byte> unpack_extra(const KernelInfo& info, void** extra) {
  // The numbers of CU_LAUNCH_PARAM_END, _BUFFER_POINTER and _BUFFER_SIZE.
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != nullptr; extra += 2) {
    const auto option = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (option == 1) {
      buffer = extra[1];
    } else if (option == 2) {
      size = *static_cast<const std::size_t*>(extra[1]);
    } else {
      throw Failure(cudaErrorInvalidValue);
    }
  }
  // The end of the last parameter's padding may be left out.
  std::size_t needed = 0;
  for (const auto& parameter : info.parameters) {
    needed = std::max<std::size_t>(needed, parameter.offset + parameter.size);
  }
  require(needed == 0 || (buffer != nullptr && size >= needed));
  std::vector<std::byte> packed(info.parameter_bytes);
  if (needed > 0) {
    std::memcpy(packed.data(), buffer, needed);
  }
  return packed;
}

void check_launch(
    Device& device,
    const KernelInfo& info,
    const KernelWork& work) {
  const Properties& p = device.properties();
  const auto within = [](const Dim3& size, const int* most) {
    return size.x > 0 && size.y > 0 && size.z > 0 &&
        size.x <= static_cast<unsigned>(most[0]) &&
        size.y <= static_cast<unsigned>(most[1]) &&
        size.z <= static_cast<unsigned>(most[2]);
  };
  require(
      within(work.grid, p.maxGridSize) && within(work.block, p.maxThreadsDim),
      cudaErrorInvalidConfiguration);
  require(
      work.block.count() <= static_cast<unsigned>(p.maxThreadsPerBlock),
      cudaErrorInvalidConfiguration);
  // More threads than __launch_bounds__ promised.
  require(work.block.count() <= info.max_threads, cudaErrorInvalidValue);
  if (info.required_threads.count() != 0) {
    require(
        work.block.x == info.required_threads.x &&
            work.block.y == info.required_threads.y &&
            work.block.z == info.required_threads.z,
        cudaErrorInvalidValue);
  }
  require(work.shared_bytes <= p.sharedMemPerBlockOptin); // sums do not wrap
  const int opted = work.function->max_dynamic_shared;
  const std::uint64_t total = info.static_shared_bytes + work.shared_bytes;
  require(
      total <= p.sharedMemPerBlock ||
      (opted >= 0 && work.shared_bytes <= static_cast<unsigned>(opted) &&
       total <= p.sharedMemPerBlockOptin));
  if (work.cooperative) {
    const int blocks = max_active_blocks(
        *work.function,
        device,
        static_cast<int>(work.block.count()),
        work.shared_bytes);
    require(
        work.grid.count() <= static_cast<std::uint64_t>(blocks) *
                static_cast<unsigned>(p.multiProcessorCount),
        cudaErrorCooperativeLaunchTooLarge);
  }
}

} // namespace accelerator::runtime
