#include "runtime/core/memory/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/backends/api_status.h"

namespace accelerator::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kArrayAlignment = 512; // bytes, as textures have it

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

// For devices without pinned memory: the host's own.
void* map_pages(std::size_t bytes) {
  void* memory = mmap(
      nullptr,
      whole_pages(bytes),
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  require(memory != MAP_FAILED, cudaErrorMemoryAllocation);
  return memory;
}

// Libraries other than the one that gave memory of the host are told of it.
template <typename Tell>
void tell_others(const accel_api* owner, Tell&& tell) {
  const accel_api* last = nullptr;
  for (const Slot& slot : all_devices()) {
    if (slot.api != owner && slot.api != last &&
        slot.api->host_register != nullptr) {
      tell(*slot.api);
    }
    last = slot.api;
  }
}

void enter(
    AddressMap& map,
    const void* memory,
    std::size_t bytes,
    Space space,
    int device,
    const accel_api* library,
    unsigned flags) {
  Allocation allocation;
  allocation.begin = address_of(memory);
  allocation.end = allocation.begin + bytes;
  allocation.space = space;
  allocation.device = device;
  allocation.flags = flags;
  allocation.library = library;
  map.insert(allocation);
}

} // namespace

std::uint64_t Memory::allocate(std::uint64_t bytes, Space space) {
  void* memory = nullptr;
  const std::uint64_t size = bytes > 0 ? bytes : 1;
  const std::uint64_t alignment = space == Space::kArray ? kArrayAlignment : 0;
  check(
      *slot_.api,
      slot_.api->memory_allocate(slot_.index, size, alignment, &memory));
  enter(map_, memory, size, space, device_, slot_.api, 0);
  return address_of(memory);
}

bool Memory::release(std::uint64_t begin, Space space) {
  const auto piece = map_.find(begin);
  if (!piece || piece->begin != begin || piece->space != space ||
      piece->device != device_ || !map_.erase(begin)) {
    return false;
  }
  check(
      *slot_.api,
      slot_.api->memory_free(slot_.index, reinterpret_cast<void*>(begin)));
  return true;
}

void Memory::share(std::uint64_t begin, int device, bool allowed) const {
  const Slot& user = map_.slot(device);
  if (user.api == slot_.api && slot_.api->memory_share != nullptr) {
    check(
        *slot_.api,
        slot_.api->memory_share(
            reinterpret_cast<void*>(begin), user.index, allowed ? 1 : 0));
  }
}

Memory::Amount Memory::amount() const {
  Amount amount{};
  check(
      *slot_.api,
      slot_.api->memory_info(slot_.index, &amount.available, &amount.total));
  return amount;
}

void require_access(cudaMemAccessFlags flags) {
  if (flags == cudaMemAccessFlagsProtRead) {
    throw Failure(
        cudaErrorNotSupported,
        "memory cannot be made readable alone: the device ABI knows full "
        "access (PROT_READWRITE) and none");
  }
  require(
      flags == cudaMemAccessFlagsProtNone ||
      flags == cudaMemAccessFlagsProtReadWrite);
}

void* allocate_host(
    AddressMap& map,
    std::size_t bytes,
    Space space,
    int device,
    const Slot& slot,
    unsigned flags) {
  const accel_api& api = *slot.api;
  const accel_api* library = &api;
  void* memory = nullptr;
  if (space == Space::kManaged && api.managed_allocate != nullptr) {
    check(api, api.managed_allocate(slot.index, bytes, &memory));
  } else if (api.host_allocate != nullptr) {
    check(api, api.host_allocate(bytes, &memory));
  } else {
    memory = map_pages(bytes);
    library = nullptr;
  }
  tell_others(library, [&](const accel_api& other) {
    other.host_register(memory, bytes);
  });
  enter(map, memory, bytes, space, device, library, flags);
  return memory;
}

void release_host(AddressMap& map, void* memory, Space space) {
  const auto piece = map.find(address_of(memory));
  require(piece && piece->space == space && piece->begin == address_of(memory));
  require(map.erase(piece->begin).has_value()); // or another thread was first
  tell_others(piece->library, [&](const accel_api& other) {
    other.host_unregister(memory);
  });
  const accel_api* api = piece->library;
  if (api == nullptr) {
    munmap(memory, whole_pages(piece->size()));
  } else if (space == Space::kManaged && api->managed_free != nullptr) {
    check(*api, api->managed_free(memory));
  } else {
    check(*api, api->host_free(memory));
  }
}

void register_host(
    AddressMap& map,
    void* memory,
    std::size_t bytes,
    int device,
    unsigned flags) {
  require(memory != nullptr && bytes > 0 && bytes <= ~address_of(memory));
  require(
      !map.overlaps(address_of(memory), address_of(memory) + bytes),
      cudaErrorHostMemoryAlreadyRegistered);
  enter(map, memory, bytes, Space::kRegistered, device, nullptr, flags);
  tell_others(nullptr, [&](const accel_api& api) {
    check(api, api.host_register(memory, bytes));
  });
}

void unregister_host(AddressMap& map, void* memory) {
  const auto piece = map.find(address_of(memory));
  require(
      piece && piece->space == Space::kRegistered &&
          piece->begin == address_of(memory),
      cudaErrorHostMemoryNotRegistered);
  map.erase(piece->begin);
  tell_others(nullptr, [&](const accel_api& api) {
    check(api, api.host_unregister(memory));
  });
}

} // namespace accelerator::runtime
