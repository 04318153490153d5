// The switch of c10's CPU allocator.
#include "router/operators/tensors/device_memory.h"

#include "router/operators/dispatch/devices.h"

#include <c10/core/CPUAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace torch_cuda::operators {
namespace {

thread_local bool serve_device_memory = false;

// How this thread's memory of the device is freed: it tells that memory from
// the host's. There is one such function for each of c10's allocators.
thread_local c10::DeleterFnPtr frees_device_memory = nullptr;

// Set once memory of a device was served.
std::atomic<bool> served{false};

c10::DeleterFnPtr frees_host_memory = nullptr;

// For raw_deallocate, which knows only an address (oneDNN's scratch memory).
void free_raw(void* data) {
  if (served.load(std::memory_order_relaxed)) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, data) == cudaSuccess &&
        attributes.type == cudaMemoryTypeDevice) {
      c10::cuda::CUDACachingAllocator::raw_delete(data);
      return;
    }
    (void)cudaGetLastError();
  }
  frees_host_memory(data);
}

class HostAllocator final : public c10::Allocator {
 public:
  explicit HostAllocator(c10::Allocator* host) : host_(host) {
    frees_host_memory = host->raw_deleter();
  }

  c10::DataPtr allocate(size_t bytes) override {
    if (C10_LIKELY(!serve_device_memory)) {
      return host_->allocate(bytes);
    }
    c10::DataPtr data;
    try {
      data = c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
    } catch (const c10::OutOfMemoryError&) {
      // Kernels of the CPU compute with more than those of CUDA. What has to be
      // on the device is brought there in the end, or does not fit.
      try {
        return host_->allocate(bytes);
      } catch (const c10::Error&) {
        // The host has not as much either: programs look for CUDA's error.
      }
      throw;
    }
    if (C10_UNLIKELY(frees_device_memory != data.get_deleter())) {
      frees_device_memory = data.get_deleter();
      served.store(true, std::memory_order_relaxed);
    }
    data.unsafe_set_device(c10::kCPU);
    return data;
  }

  c10::DataPtr allocate_on_host(size_t bytes) {
    return host_->allocate(bytes);
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return frees_host_memory == nullptr ? nullptr : &free_raw;
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    host_->copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* host_;
};

HostAllocator* installed = nullptr;

} // namespace

void install_host_allocator() {
  if (installed) {
    return;
  }
  installed = new HostAllocator(c10::GetCPUAllocator());
  constexpr uint8_t above_all = 255;
  c10::SetCPUAllocator(installed, above_all);
}

c10::Allocator* host_allocator() {
  return installed;
}

c10::DataPtr allocate_on_host(std::size_t bytes) {
  return installed->allocate_on_host(bytes);
}

DeviceMemory::DeviceMemory(c10::Device device) : before_(serve_device_memory) {
  serve_device_memory = host_sees(device.index());
}

DeviceMemory::~DeviceMemory() {
  serve_device_memory = before_;
}

c10::DataPtr on_device(c10::DataPtr&& data, size_t bytes, c10::Device device) {
  if (data.get_deleter() == frees_device_memory && frees_device_memory) {
    data.unsafe_set_device(device);
    return std::move(data);
  }
  auto copy = c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
  if (bytes > 0) {
    std::memcpy(copy.get(), data.get(), bytes);
  }
  return copy;
}

} // namespace torch_cuda::operators
