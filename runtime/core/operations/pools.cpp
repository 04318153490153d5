#include "runtime/core/operations/pools.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/core/graphs/capture.h"
#include "runtime/core/graphs/work.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/memory/ipc_memory.h"
#include "runtime/core/memory/memory_pool.h"
#include "runtime/core/memory/pool_file.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {
namespace {

std::shared_ptr<MemoryPool> resolve_pool(cudaMemPool_t handle) {
  return machine().pools().get(handle, cudaErrorInvalidValue);
}

cudaMemPool_t handle_of(const std::shared_ptr<MemoryPool>& pool) {
  return reinterpret_cast<cudaMemPool_t>(pool.get());
}

bool is_managed(cudaMemAllocationType type) {
  return static_cast<int>(type) == kManagedAllocations;
}

// Managed memory may be preferred to be at the host, or nowhere.
void require_managed_location(const cudaMemLocation& location) {
  require(
      location.type >= cudaMemLocationTypeInvalid &&
      location.type <= cudaMemLocationTypeHostNumaCurrent);
}

// Of the host's memory there are no pools.
int device_with_pools(
    const cudaMemLocation* location,
    cudaMemAllocationType type) {
  require(location != nullptr && type == cudaMemAllocationTypePinned);
  require(
      location->type == cudaMemLocationTypeDevice ||
      location->type == cudaMemLocationTypeHost ||
      location->type == cudaMemLocationTypeHostNuma);
  require(location->type == cudaMemLocationTypeDevice, cudaErrorNotSupported);
  return location->id;
}

std::shared_ptr<MemoryPool> make_managed_pool(
    const cudaMemLocation& location,
    std::size_t most) {
  require_managed_location(location);
  Device& device = location.type == cudaMemLocationTypeDevice
      ? machine().device(location.id)
      : selected_device();
  auto made = std::make_shared<MemoryPool>(
      device,
      device.memory(),
      device.stream_set(),
      MemoryPool::Sharing::kNone,
      most,
      location);
  machine().pools().add(made);
  return made;
}

// The pools of managed memory that programs are given: one a location.
struct ManagedPools {
  struct Pools {
    std::shared_ptr<MemoryPool> first; // which stays
    std::shared_ptr<MemoryPool> current;
  };

  static ManagedPools& instance() {
    static auto* all = new ManagedPools; // outlives static destructors
    return *all;
  }

  // For who holds the mutex.
  Pools& of(const cudaMemLocation& location) {
    const bool numbered = location.type == cudaMemLocationTypeDevice ||
        location.type == cudaMemLocationTypeHostNuma;
    Pools& pools = by_location[{location.type, numbered ? location.id : 0}];
    if (pools.first == nullptr) {
      pools.first = pools.current = make_managed_pool(location, 0);
    }
    return pools;
  }

  std::mutex mutex;
  std::map<std::pair<int, int>, Pools> by_location;
};

// Inside a capture the memory belongs to the graph.
void* allocate(
    const std::shared_ptr<MemoryPool>& pool,
    std::size_t bytes,
    Stream& stream) {
  if (bytes == 0) {
    return nullptr;
  }
  if (capture_info(stream).status == cudaStreamCaptureStatusNone) {
    return pool->allocate(bytes);
  }
  if (pool->managed()) {
    throw Failure(
        cudaErrorNotSupported,
        "a graph cannot allocate from a pool of managed memory: allocate "
        "before the capture, or from a pool of the device");
  }
  auto memory = std::make_shared<GraphMemory>(pool, bytes);
  void* address = memory->address();
  capture_node(stream, AllocationWork{std::move(memory)});
  return address;
}

} // namespace

void mem_alloc_async(void** memory, size_t bytes, cudaStream_t handle) {
  const auto stream = resolve_stream(handle);
  store(memory, allocate(stream->device().current_pool, bytes, *stream));
}

void mem_alloc_from_pool_async(
    void** memory,
    size_t bytes,
    cudaMemPool_t pool,
    cudaStream_t stream) {
  store(memory, allocate(resolve_pool(pool), bytes, *resolve_stream(stream)));
}

void mem_free_async(void* memory, cudaStream_t handle) {
  const auto stream = resolve_stream(handle);
  if (memory == nullptr) {
    return;
  }
  if (capture_info(*stream).status != cudaStreamCaptureStatusNone) {
    capture_node(*stream, FreeWork{memory});
    return;
  }
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const auto piece = machine().addresses().find(address);
  require(piece && piece->begin == address);
  if (piece->space == Space::kImported) {
    require(leave_pool_import(address));
    // It is unmapped, also under work of other streams that nobody ordered
    // before this: what a GPU goes on with would end the process here.
    machine().synchronize_users(*piece);
    stream->enqueue([memory] {
      close_memory(machine().addresses(), memory);
      return cudaSuccess;
    });
    return;
  }
  auto pool = pool_of(memory);
  require(
      piece->space == Space::kDevice ||
      (piece->space == Space::kManaged && pool != nullptr));
  note_free(memory);
  // It takes what cudaMalloc gave as well, which is of no pool.
  Device& owner = machine().device(piece->device);
  stream->enqueue([pool = std::move(pool), memory, address, &owner] {
    if (free_graph_memory(memory)) {
      return cudaSuccess;
    }
    if (pool != nullptr) {
      pool->release(memory);
    } else {
      require(owner.memory().release(address));
    }
    return cudaSuccess;
  });
}

void device_get_default_mem_pool(cudaMemPool_t* pool, int device) {
  store(pool, handle_of(machine().device(device).default_pool));
}

void device_get_mem_pool(cudaMemPool_t* pool, int device) {
  store(pool, handle_of(machine().device(device).current_pool));
}

void device_set_mem_pool(int device, cudaMemPool_t pool) {
  auto chosen = resolve_pool(pool);
  require(
      chosen->sharing() != MemoryPool::Sharing::kImported &&
      !chosen->managed());
  require(chosen->device().ordinal() == device);
  machine().device(device).current_pool = std::move(chosen);
}

void mem_get_default_mem_pool(
    cudaMemPool_t* pool,
    cudaMemLocation* location,
    cudaMemAllocationType type) {
  if (is_managed(type)) {
    require(location != nullptr);
    ManagedPools& all = ManagedPools::instance();
    const std::lock_guard lock(all.mutex);
    return store(pool, handle_of(all.of(*location).first));
  }
  device_get_default_mem_pool(pool, device_with_pools(location, type));
}

void mem_get_mem_pool(
    cudaMemPool_t* pool,
    cudaMemLocation* location,
    cudaMemAllocationType type) {
  if (is_managed(type)) {
    require(location != nullptr);
    ManagedPools& all = ManagedPools::instance();
    const std::lock_guard lock(all.mutex);
    return store(pool, handle_of(all.of(*location).current));
  }
  device_get_mem_pool(pool, device_with_pools(location, type));
}

void mem_set_mem_pool(
    cudaMemLocation* location,
    cudaMemAllocationType type,
    cudaMemPool_t pool) {
  if (is_managed(type)) {
    require(location != nullptr);
    auto chosen = resolve_pool(pool);
    require(chosen->managed());
    ManagedPools& all = ManagedPools::instance();
    const std::lock_guard lock(all.mutex);
    all.of(*location).current = std::move(chosen);
    return;
  }
  device_set_mem_pool(device_with_pools(location, type), pool);
}

void mem_pool_create(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  require(properties != nullptr && pool != nullptr);
  if (is_managed(properties->allocType)) {
    // Other processes cannot use managed memory.
    require(
        properties->handleTypes == cudaMemHandleTypeNone,
        cudaErrorNotSupported);
    *pool =
        handle_of(make_managed_pool(properties->location, properties->maxSize));
    return;
  }
  require(
      properties->allocType == cudaMemAllocationTypePinned &&
      properties->location.type == cudaMemLocationTypeDevice);
  const bool shared =
      properties->handleTypes == cudaMemHandleTypePosixFileDescriptor;
  require(
      shared || properties->handleTypes == cudaMemHandleTypeNone,
      cudaErrorNotSupported);
  Device& device = machine().device(properties->location.id);
  auto made = std::make_shared<MemoryPool>(
      device,
      device.memory(),
      device.stream_set(),
      shared ? MemoryPool::Sharing::kExportable : MemoryPool::Sharing::kNone,
      properties->maxSize);
  store(pool, handle_of(made));
  machine().pools().add(std::move(made));
}

void mem_pool_destroy(cudaMemPool_t handle) {
  const auto pool = resolve_pool(handle);
  require(pool != pool->device().default_pool);
  if (pool->managed()) {
    ManagedPools& all = ManagedPools::instance();
    const std::lock_guard lock(all.mutex);
    for (auto& [location, pools] : all.by_location) {
      require(pools.first != pool);
      if (pools.current == pool) {
        pools.current = pools.first;
      }
    }
  }
  if (pool == pool->device().current_pool) {
    pool->device().current_pool = pool->device().default_pool;
  }
  machine().pools().remove(handle);
}

void mem_pool_export_to_shareable_handle(
    void* shareable,
    cudaMemPool_t handle,
    cudaMemAllocationHandleType type,
    unsigned flags) {
  require(shareable != nullptr && flags == 0);
  const auto pool = resolve_pool(handle);
  require(
      type == cudaMemHandleTypePosixFileDescriptor &&
      pool->sharing() == MemoryPool::Sharing::kExportable);
  *static_cast<int*>(shareable) = write_pool_file(pool->device().physical());
}

void mem_pool_import_from_shareable_handle(
    cudaMemPool_t* pool,
    void* shareable,
    cudaMemAllocationHandleType type,
    unsigned flags) {
  require(flags == 0 && type == cudaMemHandleTypePosixFileDescriptor);
  // The descriptor itself is passed in the pointer.
  const int physical = read_pool_file(
      static_cast<int>(reinterpret_cast<std::intptr_t>(shareable)));
  for (int ordinal = 0; ordinal < machine().device_count(); ++ordinal) {
    Device& device = machine().device(ordinal);
    if (device.physical() == physical) {
      auto made = std::make_shared<MemoryPool>(
          device,
          device.memory(),
          device.stream_set(),
          MemoryPool::Sharing::kImported);
      store(pool, handle_of(made));
      machine().pools().add(std::move(made));
      return;
    }
  }
  throw Failure(cudaErrorInvalidDevice); // which this process does not see
}

void mem_pool_export_pointer(cudaMemPoolPtrExportData* data, void* memory) {
  const auto pool = pool_of(memory);
  require(
      pool != nullptr && pool->sharing() == MemoryPool::Sharing::kExportable);
  static_assert(sizeof(*data) == sizeof(cudaIpcMemHandle_t));
  Device& device = pool->device();
  const cudaIpcMemHandle_t handle =
      export_memory(device.memory(), device.physical(), memory);
  require(data != nullptr);
  std::memcpy(data, &handle, sizeof(handle));
}

void mem_pool_import_pointer(
    void** memory,
    cudaMemPool_t handle,
    cudaMemPoolPtrExportData* data) {
  const auto pool = resolve_pool(handle);
  require(data != nullptr && memory != nullptr);
  require(pool->sharing() == MemoryPool::Sharing::kImported);
  cudaIpcMemHandle_t exported;
  std::memcpy(&exported, data, sizeof(exported));
  *memory =
      import_memory(machine().addresses(), pool->device().ordinal(), exported);
  enter_pool_import(reinterpret_cast<std::uint64_t>(*memory));
}

void mem_pool_trim_to(cudaMemPool_t pool, size_t) {
  resolve_pool(pool); // pools here keep no reserve
}

void mem_pool_get_attribute(
    cudaMemPool_t pool,
    cudaMemPoolAttr attribute,
    void* value) {
  require(value != nullptr);
  resolve_pool(pool)->get(attribute, value);
}

void mem_pool_set_attribute(
    cudaMemPool_t pool,
    cudaMemPoolAttr attribute,
    void* value) {
  require(value != nullptr);
  resolve_pool(pool)->set(attribute, value);
}

void mem_pool_set_access(
    cudaMemPool_t pool,
    const cudaMemAccessDesc* list,
    size_t count) {
  const auto target = resolve_pool(pool);
  require(list != nullptr || count == 0);
  for (std::size_t i = 0; i < count; ++i) {
    require(list[i].location.type == cudaMemLocationTypeDevice);
    require_access(list[i].flags);
    machine().device(list[i].location.id);
    target->set_access(list[i].location.id, list[i].flags);
  }
}

void mem_pool_get_access(
    cudaMemAccessFlags* flags,
    cudaMemPool_t pool,
    cudaMemLocation* location) {
  require(location != nullptr && location->type == cudaMemLocationTypeDevice);
  machine().device(location->id);
  store(flags, resolve_pool(pool)->access(location->id));
}

void device_get_graph_mem_attribute(
    int device,
    cudaGraphMemAttributeType attribute,
    void* value) {
  const GraphMemoryUse use = graph_memory_use(machine().device(device));
  auto* const place = static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
    case cudaGraphMemAttrReservedMemCurrent:
      return store(place, use.mapped);
    case cudaGraphMemAttrUsedMemHigh:
      return store(place, use.used_high);
    case cudaGraphMemAttrReservedMemHigh:
      return store(place, use.reserved_high);
  }
  throw Failure(cudaErrorInvalidValue);
}

void device_set_graph_mem_attribute(
    int device,
    cudaGraphMemAttributeType attribute,
    void* value) {
  const Device& target = machine().device(device);
  // Only zero is allowed: it starts the measurement again.
  require(value != nullptr && *static_cast<const std::uint64_t*>(value) == 0);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemHigh:
      return restart_used_high(target);
    case cudaGraphMemAttrReservedMemHigh:
      return restart_reserved_high(target);
    default:
      throw Failure(cudaErrorInvalidValue);
  }
}

void device_graph_mem_trim(int device) {
  trim_graph_memory(machine().device(device));
}

} // namespace accelerator::runtime::operations
