// PyTorch's caching allocator of the host over the runtime.
#include "adapter/testing/stand_in/csrc/device/pinned.h"

#include <ATen/core/CachingHostAllocator.h>

#include <optional>
#include <utility>
#include <vector>

#include "ATen/stand/StandEvent.h"
#include "router/aliasing/torch_versions.h"

namespace torch_stand_in {
namespace {

using at::stand::StandEvent;
using c10::stand::StandStream;

struct Implementation final
    : at::CachingHostAllocatorImpl<StandStream, StandEvent> {
  void allocate_host_memory(size_t bytes, void** address) override {
    C10_STAND_CHECK(standHostAlloc(address, bytes, standHostAllocDefault));
  }
  void free_block(at::HostBlock<StandStream>* block) override {
    C10_STAND_CHECK(standFreeHost(block->ptr_));
  }
  void record_stream(
      std::optional<std::vector<StandEvent>>& events,
      StandStream stream) override {
    StandEvent event;
    event.record(stream);
    events->push_back(std::move(event));
  }
  bool query_event(StandEvent& event) override {
    return event.query();
  }
};

void free_pinned(void* context);

#if TORCH_CUDA_TORCH_SINCE(9)
using Pinned = at::CachingHostAllocatorInterface<Implementation, &free_pinned>;
#else
struct Pinned final : at::CachingHostAllocatorInterface<Implementation> {
  at::DataPtr allocate(size_t bytes) override {
    const auto [address, context] = impl_->allocate(bytes);
    return {address, context, &free_pinned, c10::DeviceType::CPU};
  }
};
#endif

// Never destroyed: tensors are freed until the process ends.
Pinned& instance() {
  static auto* pinned = new Pinned;
  return *pinned;
}

void free_pinned(void* context) {
  instance().free(context);
}

#if TORCH_CUDA_TORCH_SINCE(9)
// Later versions ask for it by the type of the device, and no longer the hooks.
[[maybe_unused]] const bool host_allocator_registered = [] {
  at::setHostAllocator(c10::kPrivateUse1, &instance());
  return true;
}();
#endif

} // namespace

c10::Allocator* pinned_allocator() {
  return &instance();
}

void record_pinned(void* address, void* context, const StandStream& stream) {
  instance().record_event(address, context, stream);
}

void empty_pinned_cache() {
  instance().empty_cache();
}

bool is_pinned(const void* address) {
  standPointerAttributes attributes;
  return standPointerGetAttributes(&attributes, address) == standSuccess &&
      attributes.type == standMemoryTypeHost;
}

} // namespace torch_stand_in
