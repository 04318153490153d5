// Memory of devices and pinned memory, copies and fills.
#include "adapter/testing/stand_in/runtime/memory.h"

#include <cstdlib>
#include <iterator>

#include "adapter/testing/stand_in/runtime/runtime.h"

namespace stand {

Ranges& Ranges::get() {
  static auto* ranges = new Ranges;
  return *ranges;
}

void Ranges::add(const Range& range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ranges_[range.begin] = range;
}

std::optional<Range> Ranges::find(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto after = ranges_.upper_bound(at);
  if (after == ranges_.begin()) {
    return std::nullopt;
  }
  const Range& range = std::prev(after)->second;
  return at - range.begin < range.bytes ? std::optional(range) : std::nullopt;
}

bool Ranges::take(
    const void* begin,
    bool registered,
    bool on_device,
    Range* range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = ranges_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (at == ranges_.end() || at->second.registered != registered ||
      (at->second.device != kHost) != on_device) {
    return false;
  }
  *range = at->second;
  ranges_.erase(at);
  return true;
}

bool Ranges::overlaps(const void* begin, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = ranges_.lower_bound(first + bytes);
  if (at == ranges_.begin()) {
    return false;
  }
  const Range& before = std::prev(at)->second;
  return before.begin + before.bytes > first;
}

void Ranges::forget_device(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto at = ranges_.begin(); at != ranges_.end();) {
    at = at->second.device == device ? ranges_.erase(at) : std::next(at);
  }
}

namespace {

constexpr std::size_t kPage = 4096;

std::uintptr_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

struct Place {
  int32_t device; // the library's number, or ACCEL_HOST
  bool pageable;
};

// Where some bytes are. Those of devices and pinned ones are in one range.
Place place_of(const void* address, std::size_t bytes) {
  need(address, standErrorInvalidValue, "an address is null");
  const auto range = Ranges::get().find(address);
  if (!range) {
    return {ACCEL_HOST, true};
  }
  need(
      bytes <= range->bytes - (number_of(address) - range->begin),
      standErrorInvalidValue,
      "more bytes than the allocation has behind this address");
  return range->device == kHost
      ? Place{ACCEL_HOST, false}
      : Place{Runtime::get().number(range->device), false};
}

void copy(
    void* to,
    const void* from,
    std::size_t bytes,
    standMemcpyKind kind,
    standStream_t handle,
    bool wait) {
  need(
      kind >= standMemcpyHostToHost && kind <= standMemcpyDefault,
      standErrorInvalidValue,
      "there is no such kind of copy");
  auto& runtime = Runtime::get();
  auto& stream = runtime.stream(handle);
  if (bytes != 0) {
    const Place there = place_of(to, bytes), here = place_of(from, bytes);
    accel_copy work = {};
    work.struct_size = sizeof work;
    work.to = to;
    work.from = from;
    work.width = bytes;
    work.height = work.depth = 1;
    work.to_device = there.device;
    work.from_device = here.device;
    put(stream, [work](standStream_st& on) {
      check(Runtime::get().api().copy(on.stream, &work));
    });
    wait = wait || there.pageable || here.pageable;
  }
  if (wait) {
    check(runtime.api().stream_synchronize(stream.stream));
  }
}

void fill(
    void* to,
    int value,
    std::size_t bytes,
    standStream_t handle,
    bool wait) {
  auto& runtime = Runtime::get();
  auto& stream = runtime.stream(handle);
  if (bytes != 0) {
    const Place there = place_of(to, bytes);
    need(
        !there.pageable,
        standErrorInvalidValue,
        "memory of the host that is not pinned is no device's business");
    accel_fill work = {};
    work.struct_size = sizeof work;
    work.to = to;
    work.value = static_cast<uint32_t>(value);
    work.element_size = 1;
    work.width = bytes;
    work.height = work.depth = 1;
    put(stream, [work](standStream_st& on) {
      check(Runtime::get().api().fill(on.stream, &work));
    });
  }
  if (wait) {
    check(runtime.api().stream_synchronize(stream.stream));
  }
}

} // namespace
} // namespace stand

using stand::answer;
using stand::kHost;
using stand::need;
using stand::Range;
using stand::Ranges;
using stand::Runtime;

standError_t standMalloc(void** address, size_t bytes) {
  *address = nullptr;
  return answer([&] {
    auto& runtime = Runtime::get();
    const int device = stand::current_device();
    const int32_t number = runtime.number(device);
    if (bytes != 0) {
      stand::check(runtime.api().memory_allocate(number, bytes, 0, address));
      Ranges::get().add({stand::number_of(*address), bytes, device, false});
    }
  });
}

standError_t standFree(void* address) {
  return answer([&] {
    if (!address) {
      return;
    }
    Range range;
    need(
        Ranges::get().take(address, false, true, &range),
        standErrorInvalidValue,
        "standMalloc did not give this address, or it was freed");
    auto& runtime = Runtime::get();
    const int32_t number = runtime.number(range.device);
    // A fault of the device does not keep memory from being freed.
    (void)runtime.api().device_synchronize(number);
    stand::check(runtime.api().memory_free(number, address));
  });
}

standError_t standMallocHost(void** address, size_t bytes) {
  return standHostAlloc(address, bytes, standHostAllocDefault);
}

standError_t standHostAlloc(void** address, size_t bytes, unsigned int flags) {
  (void)flags;
  *address = nullptr;
  return answer([&] {
    Runtime::get();
    if (bytes == 0) {
      return;
    }
    void* made = nullptr;
    need(
        posix_memalign(&made, stand::kPage, bytes) == 0,
        standErrorMemoryAllocation,
        "the host has no memory left");
    Ranges::get().add({stand::number_of(made), bytes, kHost, false});
    *address = made;
  });
}

standError_t standFreeHost(void* address) {
  return answer([&] {
    if (!address) {
      return;
    }
    Range range;
    need(
        Ranges::get().take(address, false, false, &range),
        standErrorInvalidValue,
        "standHostAlloc did not give this address, or it was freed");
    std::free(address);
  });
}

standError_t standHostRegister(
    void* address,
    size_t bytes,
    unsigned int flags) {
  (void)flags;
  return answer([&] {
    Runtime::get();
    need(address && bytes, standErrorInvalidValue, "there is nothing to pin");
    need(
        !Ranges::get().overlaps(address, bytes),
        standErrorHostMemoryAlreadyRegistered,
        "a part of it is pinned already");
    Ranges::get().add({stand::number_of(address), bytes, kHost, true});
  });
}

standError_t standHostUnregister(void* address) {
  return answer([&] {
    Range range;
    need(
        Ranges::get().take(address, true, false, &range),
        standErrorHostMemoryNotRegistered,
        "standHostRegister did not get this address");
  });
}

standError_t standMemGetInfo(size_t* available, size_t* total) {
  return answer([&] {
    auto& runtime = Runtime::get();
    uint64_t free_bytes = 0, all_bytes = 0;
    stand::check(runtime.api().memory_info(
        runtime.number(stand::current_device()), &free_bytes, &all_bytes));
    *available = free_bytes;
    *total = all_bytes;
  });
}

standError_t standPointerGetAttributes(
    standPointerAttributes* attributes,
    const void* address) {
  return answer([&] {
    void* const pointer = const_cast<void*>(address);
    const auto range = Ranges::get().find(address);
    if (!range) {
      *attributes = {standMemoryTypeUnregistered, kHost, nullptr, pointer};
    } else if (range->device == kHost) {
      *attributes = {standMemoryTypeHost, kHost, pointer, pointer};
    } else {
      const bool seen = Runtime::get().host_sees(range->device);
      *attributes = {
          standMemoryTypeDevice,
          range->device,
          pointer,
          seen ? pointer : nullptr};
    }
  });
}

standError_t standMemcpy(
    void* to,
    const void* from,
    size_t bytes,
    standMemcpyKind kind) {
  return answer([&] { stand::copy(to, from, bytes, kind, nullptr, true); });
}

standError_t standMemcpyAsync(
    void* to,
    const void* from,
    size_t bytes,
    standMemcpyKind kind,
    standStream_t stream) {
  return answer([&] { stand::copy(to, from, bytes, kind, stream, false); });
}

standError_t standMemset(void* to, int value, size_t bytes) {
  return answer([&] { stand::fill(to, value, bytes, nullptr, true); });
}

standError_t standMemsetAsync(
    void* to,
    int value,
    size_t bytes,
    standStream_t stream) {
  return answer([&] { stand::fill(to, value, bytes, stream, false); });
}
