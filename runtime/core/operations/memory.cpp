#include "runtime/core/operations/memory.h"

#include "runtime/core/graphs/capture.h"
#include "runtime/core/graphs/graph_memory.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/memory/advice_map.h"
#include "runtime/core/memory/ipc_memory.h"
#include "runtime/core/memory/memory_pool.h"
#include "runtime/core/memory/pool_file.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {
namespace {

constexpr std::size_t kPitch = 512; // bytes, as on compute capability 8.0

void* allocate_shared(std::size_t bytes, Space space, unsigned flags) {
  require_no_unsafe_capture();
  return allocate_host(
      machine().addresses(),
      bytes,
      space,
      current_device().ordinal(),
      current_device().slot(),
      flags);
}

} // namespace

void mem_alloc(void** memory, size_t bytes) {
  require_no_unsafe_capture();
  current_device();
  store(memory, nullptr);
  if (bytes > 0) {
    *memory =
        reinterpret_cast<void*>(current_device().memory().allocate(bytes));
    contexts().note(Contexts::Kind::kMemory, *memory);
  }
}

void mem_alloc_pitch(
    void** memory,
    size_t* pitch,
    size_t width,
    size_t height) {
  require_no_unsafe_capture();
  require(memory != nullptr && pitch != nullptr);
  Device& device = current_device();
  const std::size_t row = (width + kPitch - 1) / kPitch * kPitch;
  std::size_t bytes = 0;
  require(
      row >= width && !__builtin_mul_overflow(row, height, &bytes),
      cudaErrorMemoryAllocation);
  void* const begin = bytes > 0
      ? reinterpret_cast<void*>(device.memory().allocate(bytes))
      : nullptr;
  *pitch = row;
  *memory = begin;
  contexts().note(Contexts::Kind::kMemory, begin);
}

void mem_free(void* memory) {
  require_no_unsafe_capture();
  current_device();
  if (memory == nullptr) {
    return;
  }
  const auto piece = machine().addresses().find(address_of(memory));
  require(
      piece && piece->begin == address_of(memory) &&
      (piece->space == Space::kManaged || piece->space == Space::kDevice ||
       piece->space == Space::kImported));
  // Work that was given before may still use it.
  machine().synchronize_users(*piece);
  contexts().forget(Contexts::Kind::kMemory, memory);
  if (piece->space == Space::kImported) {
    require(leave_pool_import(piece->begin)); // of a pool, not by a handle
    close_memory(machine().addresses(), memory);
    return;
  }
  if (piece->space == Space::kManaged) {
    if (const auto pool = pool_of(memory)) {
      pool->release(memory);
      return;
    }
    advice_map().forget(piece->begin, piece->end);
    release_host(machine().addresses(), memory, Space::kManaged);
    return;
  }
  note_free(memory);
  if (free_graph_memory(memory)) {
    return;
  }
  Device& owner = machine().device(piece->device);
  if (const auto pool = pool_of(memory)) {
    pool->release(memory);
  } else {
    require(owner.memory().release(piece->begin));
  }
}

void mem_host_alloc(void** memory, size_t bytes, unsigned flags) {
  require(
      (flags &
       ~(cudaHostAllocPortable | cudaHostAllocMapped |
         cudaHostAllocWriteCombined)) == 0);
  store(memory, nullptr);
  if (bytes > 0) {
    *memory = allocate_shared(bytes, Space::kHost, flags);
    contexts().note(Contexts::Kind::kHostMemory, *memory);
  }
}

void mem_alloc_host(void** memory, size_t bytes) {
  mem_host_alloc(memory, bytes, cudaHostAllocDefault);
}

void mem_free_host(void* memory) {
  require_no_unsafe_capture();
  if (memory == nullptr) {
    return;
  }
  const auto piece = machine().addresses().find(address_of(memory));
  require(piece && piece->space == Space::kHost);
  machine().synchronize_users(*piece);
  contexts().forget(Contexts::Kind::kHostMemory, memory);
  release_host(machine().addresses(), memory, Space::kHost);
}

void mem_alloc_managed(void** memory, size_t bytes, unsigned flags) {
  require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost);
  require(bytes > 0);
  store(memory, allocate_shared(bytes, Space::kManaged, flags));
  contexts().note(Contexts::Kind::kMemory, *memory);
}

void mem_host_register(void* memory, size_t bytes, unsigned flags) {
  require_no_unsafe_capture();
  register_host(
      machine().addresses(), memory, bytes, current_device().ordinal(), flags);
}

void mem_host_unregister(void* memory) {
  require_no_unsafe_capture();
  current_device();
  const auto piece = machine().addresses().find(address_of(memory));
  require(
      piece && piece->space == Space::kRegistered,
      cudaErrorHostMemoryNotRegistered);
  machine().synchronize_users(*piece);
  unregister_host(machine().addresses(), memory);
}

void mem_host_get_device_pointer(void** device, void* host, unsigned flags) {
  require(flags == 0);
  const auto piece = machine().addresses().find(address_of(host));
  require(piece && piece->on_host());
  store(device, host);
}

void mem_host_get_flags(unsigned* flags, void* host) {
  const auto piece = machine().addresses().find(address_of(host));
  require(piece && piece->on_host());
  // With unified addressing all pinned memory is mapped and portable.
  store(flags, piece->flags | cudaHostAllocPortable | cudaHostAllocMapped);
}

void mem_get_info(size_t* available, size_t* total) {
  require(available != nullptr && total != nullptr);
  const Memory::Amount amount = current_device().memory().amount();
  *available = amount.available;
  *total = amount.total;
}

void ipc_get_mem_handle(cudaIpcMemHandle_t* handle, void* memory) {
  current_device();
  Device& device = machine().device_of(memory);
  store(handle, export_memory(device.memory(), device.physical(), memory));
}

void ipc_open_mem_handle(void** memory, cudaIpcMemHandle_t handle, unsigned) {
  require_no_unsafe_capture();
  store(
      memory,
      import_memory(machine().addresses(), current_device().ordinal(), handle));
}

void ipc_close_mem_handle(void* memory) {
  require_no_unsafe_capture();
  current_device();
  const auto piece = machine().addresses().find(address_of(memory));
  require(piece && piece->space == Space::kImported);
  machine().synchronize_users(*piece);
  close_memory(machine().addresses(), memory);
}

} // namespace accelerator::runtime::operations
