// Memory pools and allocation in the order of a stream.
// Source: CUDA runtime API, stream ordered memory allocator.
#include <memory>
#include <utility>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/graphs/submit.h"
#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/core/memory/memory_pool.h"
#include "accelerator/runtime/cudart/call.h"

using namespace accelerator::runtime;
using accelerator::cudart::call;
using accelerator::cudart::store;

namespace {

std::shared_ptr<MemoryPool> resolve_pool(cudaMemPool_t handle) {
  return machine().pools().get(handle, cudaErrorInvalidValue);
}

cudaMemPool_t handle_of(const std::shared_ptr<MemoryPool>& pool) {
  return reinterpret_cast<cudaMemPool_t>(pool.get());
}

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
  auto memory = std::make_shared<GraphMemory>(pool, bytes);
  void* address = memory->address();
  submit(stream, AllocationWork{std::move(memory)});
  return address;
}

} // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t handle) {
  return call([&] {
    const auto stream = resolve_stream(handle);
    store(memory, allocate(stream->device().current_pool, bytes, *stream));
  });
}

cudaError_t cudaMallocFromPoolAsync(
    void** memory,
    size_t bytes,
    cudaMemPool_t pool,
    cudaStream_t stream) {
  return call([&] {
    store(memory, allocate(resolve_pool(pool), bytes, *resolve_stream(stream)));
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t handle) {
  return call([&] {
    const auto stream = resolve_stream(handle);
    if (memory == nullptr) {
      return;
    }
    if (capture_info(*stream).status != cudaStreamCaptureStatusNone) {
      submit(*stream, FreeWork{memory});
      return;
    }
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    const auto piece = machine().addresses().find(address);
    require(piece && piece->begin == address && piece->space == Space::kDevice);
    // It takes what cudaMalloc gave as well, which is of no pool.
    Device& owner = machine().device(piece->device);
    stream->enqueue([pool = pool_of(memory), memory, address, &owner] {
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
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call(
      [&] { store(pool, handle_of(machine().device(device).default_pool)); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call(
      [&] { store(pool, handle_of(machine().device(device).current_pool)); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call([&] {
    auto chosen = resolve_pool(pool);
    require(chosen->device().ordinal() == device);
    machine().device(device).current_pool = std::move(chosen);
  });
}

cudaError_t cudaMemPoolCreate(
    cudaMemPool_t* pool,
    const cudaMemPoolProps* properties) {
  return call([&] {
    require(
        properties != nullptr &&
        properties->allocType == cudaMemAllocationTypePinned &&
        properties->location.type == cudaMemLocationTypeDevice);
    require(
        properties->handleTypes == cudaMemHandleTypeNone,
        cudaErrorNotSupported);
    Device& device = machine().device(properties->location.id);
    auto made = std::make_shared<MemoryPool>(
        device, device.memory(), device.stream_set());
    store(pool, handle_of(made));
    machine().pools().add(std::move(made));
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return call([&] {
    const auto pool = resolve_pool(handle);
    require(pool != pool->device().default_pool);
    if (pool == pool->device().current_pool) {
      pool->device().current_pool = pool->device().default_pool;
    }
    machine().pools().remove(handle);
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return call([&] { resolve_pool(pool); }); // pools here keep no reserve
}

cudaError_t cudaMemPoolGetAttribute(
    cudaMemPool_t pool,
    cudaMemPoolAttr attribute,
    void* value) {
  return call([&] {
    require(value != nullptr);
    resolve_pool(pool)->get(attribute, value);
  });
}

cudaError_t cudaMemPoolSetAttribute(
    cudaMemPool_t pool,
    cudaMemPoolAttr attribute,
    void* value) {
  return call([&] {
    require(value != nullptr);
    resolve_pool(pool)->set(attribute, value);
  });
}

cudaError_t cudaMemPoolSetAccess(
    cudaMemPool_t pool,
    const cudaMemAccessDesc* list,
    size_t count) {
  return call([&] {
    const auto target = resolve_pool(pool);
    require(list != nullptr || count == 0);
    for (std::size_t i = 0; i < count; ++i) {
      require(list[i].location.type == cudaMemLocationTypeDevice);
      machine().device(list[i].location.id);
      target->set_access(list[i].location.id, list[i].flags);
    }
  });
}

cudaError_t cudaMemPoolGetAccess(
    cudaMemAccessFlags* flags,
    cudaMemPool_t pool,
    cudaMemLocation* location) {
  return call([&] {
    require(location != nullptr && location->type == cudaMemLocationTypeDevice);
    machine().device(location->id);
    store(flags, resolve_pool(pool)->access(location->id));
  });
}

// What graphs have allocated is the graphs' until they go: nothing to trim.
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call([&] { machine().device(device); });
}

} // extern "C"
