// Virtual memory management: addresses and memory apart.
// Source: CUDA driver API, virtual memory management.
#include "runtime/core/memory/virtual_memory.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/api/driver/call.h"

using namespace accelerator::runtime;
using accelerator::driver::call;

namespace {

// What the handle of an allocation stands for. It is the same handle each time,
// and has to be released as often as it was given out.
struct Entry {
  std::weak_ptr<PhysicalMemory> memory;
  std::shared_ptr<PhysicalMemory> owned; // while handles > 0
  int handles = 0;
};

class Entries {
 public:
  /// Gives the handle out.
  CUmemGenericAllocationHandle enter(
      const std::shared_ptr<PhysicalMemory>& memory) {
    const std::lock_guard lock(mutex_);
    for (auto at = entries_.begin(); at != entries_.end();) {
      at = at->second.memory.expired() ? entries_.erase(at) : std::next(at);
    }
    const auto handle =
        reinterpret_cast<CUmemGenericAllocationHandle>(memory.get());
    Entry& entry =
        entries_.try_emplace(handle, Entry{memory, nullptr}).first->second;
    entry.owned = memory;
    ++entry.handles;
    return handle;
  }
  /// @throws Failure: cudaErrorInvalidValue, as release().
  Entry get(CUmemGenericAllocationHandle handle) {
    const std::lock_guard lock(mutex_);
    return find(handle);
  }
  void release(CUmemGenericAllocationHandle handle) {
    std::shared_ptr<PhysicalMemory> last; // goes after the lock
    const std::lock_guard lock(mutex_);
    Entry& entry = find(handle);
    if (--entry.handles == 0) {
      last = std::move(entry.owned);
    }
  }

 private:
  Entry& find(CUmemGenericAllocationHandle handle) {
    const auto found = entries_.find(handle);
    require(found != entries_.end() && found->second.handles > 0);
    return found->second;
  }

  std::mutex mutex_;
  std::map<CUmemGenericAllocationHandle, Entry> entries_;
};

Entries& entries() {
  static auto* all = new Entries; // outlives static destructors
  return *all;
}

void check(const CUmemAllocationProp* properties) {
  require(
      properties != nullptr &&
      properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
      properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  require(
      properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ||
          properties->requestedHandleTypes ==
              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
      cudaErrorNotSupported);
  machine().device(properties->location.id);
}

} // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(
    size_t* granularity,
    const CUmemAllocationProp* properties,
    CUmemAllocationGranularity_flags) {
  return call([&] {
    check(properties);
    store(
        granularity,
        virtual_granularity(
            machine().device(properties->location.id).memory()));
  });
}

CUresult cuMemAddressReserve(
    CUdeviceptr* address,
    size_t size,
    size_t alignment,
    CUdeviceptr wish,
    unsigned long long flags) {
  return call([&] {
    require(flags == 0);
    store(
        address,
        reserve_addresses(selected_device().memory(), size, alignment, wish));
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  return call([&] { free_addresses(address, size); });
}

CUresult cuMemCreate(
    CUmemGenericAllocationHandle* handle,
    size_t size,
    const CUmemAllocationProp* properties,
    unsigned long long flags) {
  return call([&] {
    require(flags == 0);
    check(properties);
    Device& device = machine().device(properties->location.id);
    device.require_health();
    store(
        handle,
        entries().enter(std::make_shared<PhysicalMemory>(
            device.memory(), size, properties->requestedHandleTypes)));
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return call([&] {
    // What is mapped stays until it is unmapped.
    entries().release(handle);
  });
}

CUresult cuMemRetainAllocationHandle(
    CUmemGenericAllocationHandle* handle,
    void* address) {
  return call([&] {
    store(
        handle,
        entries().enter(
            memory_behind(reinterpret_cast<std::uint64_t>(address))));
  });
}

CUresult cuMemMap(
    CUdeviceptr address,
    size_t size,
    size_t offset,
    CUmemGenericAllocationHandle handle,
    unsigned long long flags) {
  return call([&] {
    require(flags == 0);
    map_memory(address, size, offset, entries().get(handle).owned);
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  return call([&] {
    // Kernels that were given before may still use it.
    for (int device = 0; device < machine().device_count(); ++device) {
      machine().device(device).synchronize();
    }
    unmap_memory(address, size);
  });
}

CUresult cuMemSetAccess(
    CUdeviceptr address,
    size_t size,
    const CUmemAccessDesc* list,
    size_t count) {
  return call([&] {
    require(list != nullptr && count > 0);
    for (std::size_t i = 0; i < count; ++i) {
      require(list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE);
      require_access(static_cast<cudaMemAccessFlags>(list[i].flags));
    }
    for (std::size_t i = 0; i < count; ++i) {
      set_access(
          address,
          size,
          machine().device(list[i].location.id).memory(),
          list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE);
    }
  });
}

CUresult cuMemGetAccess(
    unsigned long long* flags,
    const CUmemLocation* location,
    CUdeviceptr address) {
  return call([&] {
    require(
        location != nullptr && location->type == CU_MEM_LOCATION_TYPE_DEVICE);
    machine().device(location->id);
    store(
        flags,
        has_access(machine().addresses(), address, location->id)
            ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            : CU_MEM_ACCESS_FLAGS_PROT_NONE);
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(
    CUmemAllocationProp* properties,
    CUmemGenericAllocationHandle handle) {
  return call([&] {
    const Entry entry = entries().get(handle);
    CUmemAllocationProp result{};
    result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    result.location = {
        CU_MEM_LOCATION_TYPE_DEVICE, entry.owned->memory().device()};
    result.requestedHandleTypes =
        static_cast<CUmemAllocationHandleType>(entry.owned->handle_types());
    store(properties, result);
  });
}

CUresult cuMemExportToShareableHandle(
    void* shareable,
    CUmemGenericAllocationHandle handle,
    CUmemAllocationHandleType type,
    unsigned long long flags) {
  return call([&] {
    require(shareable != nullptr && flags == 0);
    require(
        type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        cudaErrorNotSupported);
    const Entry entry = entries().get(handle);
    // Has to be asked for when it is made.
    require((entry.owned->handle_types() & type) != 0);
    *static_cast<int*>(shareable) = entry.owned->export_file();
  });
}

CUresult cuMemImportFromShareableHandle(
    CUmemGenericAllocationHandle* handle,
    void* shareable,
    CUmemAllocationHandleType type) {
  return call([&] {
    require(
        type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        cudaErrorNotSupported);
    // The descriptor itself is passed in the pointer.
    const auto file =
        static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    store(
        handle,
        entries().enter(
            std::make_shared<PhysicalMemory>(current_device().memory(), file)));
  });
}

} // extern "C"
