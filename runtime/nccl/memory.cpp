#include "runtime/nccl/memory.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "device/host/process.h"
#include "runtime/core/machine/machine.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/thread.h"

namespace accelerator::nccl {
namespace {

// Allocations of other processes that are open at a time; each is a mapping.
constexpr std::size_t kMostOpen = 1024;

struct Opened {
  cudaIpcMemHandle_t handle;
  void* memory;
};

// The last one used is the first.
std::mutex opened_mutex;
std::list<Opened>& opened() {
  static auto* list = new std::list<Opened>;
  return *list;
}

void open_handle(const cudaIpcMemHandle_t& handle, void** memory) {
  try {
    check(cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess));
  } catch (const Error& error) {
    throw Unreachable(error.result(), error.what());
  }
}

bool same(const cudaIpcMemHandle_t& a, const cudaIpcMemHandle_t& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

} // namespace

void set_fault(int device) {
  runtime::machine().device(device).set_fault(cudaErrorIllegalAddress);
}

std::uint64_t this_process() {
  static const std::uint64_t process = accelerator::host::this_process();
  return process;
}

bool has_ended(std::uint64_t process) {
  return process != this_process() && accelerator::host::has_ended(process);
}

bool expose(
    const void* buffer,
    std::size_t bytes,
    bool elsewhere,
    Exposure* exposure) {
  *exposure = {};
  exposure->process = this_process();
  exposure->address = reinterpret_cast<std::uint64_t>(buffer);
  if (!elsewhere || bytes == 0) {
    return true;
  }
  CUdeviceptr base = 0;
  std::size_t size = 0;
  const auto address = static_cast<CUdeviceptr>(exposure->address);
  if (cuMemGetAddressRange(&base, &size, address) != CUDA_SUCCESS ||
      address + bytes > base + size) {
    return false;
  }
  exposure->offset = address - base;
  // What is no device memory of this process has no handle.
  return cudaIpcGetMemHandle(
             &exposure->handle, reinterpret_cast<void*>(base)) == cudaSuccess;
}

void* reach(const Exposure& exposure, PeerStaging& staging) {
  if (exposure.process == this_process()) {
    return reinterpret_cast<void*>(exposure.address);
  }
  if (exposure.key != 0) {
    return staging.reach(exposure);
  }
  std::size_t open = 0;
  void* memory = nullptr;
  {
    const std::lock_guard lock(opened_mutex);
    auto& list = opened();
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Opened& entry) {
          return same(entry.handle, exposure.handle);
        });
    if (found != list.end()) {
      list.splice(list.begin(), list, found);
    } else {
      open_handle(exposure.handle, &memory);
      list.push_front({exposure.handle, memory});
    }
    memory = list.front().memory;
    open = list.size();
  }
  if (open > kMostOpen) {
    close_reached(kMostOpen / 2);
  }
  return static_cast<unsigned char*>(memory) + exposure.offset;
}

void close_reached(std::size_t keep) {
  std::list<Opened> old;
  {
    const std::lock_guard lock(opened_mutex);
    auto& list = opened();
    if (list.size() > keep) {
      old.splice(
          old.begin(),
          list,
          std::next(list.begin(), static_cast<std::ptrdiff_t>(keep)),
          list.end());
    }
  }
  if (!old.empty()) {
    start_thread([old = std::move(old)] {
      for (const Opened& entry : old) {
        cudaIpcCloseMemHandle(entry.memory);
      }
    }).detach();
  }
}

} // namespace accelerator::nccl
