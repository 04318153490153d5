#include "runtime/core/operations/memory/managed.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "runtime/core/machine/machine.h"
#include "runtime/core/memory/advice_map.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {
namespace {

void require_managed(const void* memory, std::size_t bytes) {
  const auto piece = machine().addresses().find(address_of(memory));
  require(
      piece && piece->space == Space::kManaged &&
      bytes <= piece->end - address_of(memory));
}

// The location as it is told, if there is such a one.
cudaMemLocation known_location(cudaMemLocation location) {
  if (location.type == cudaMemLocationTypeDevice) {
    machine().device(location.id);
    return location;
  }
  if (location.type == cudaMemLocationTypeHost) {
    return {location.type, cudaCpuDeviceId};
  }
  require(
      location.type == cudaMemLocationTypeHostNuma ||
      location.type == cudaMemLocationTypeHostNumaCurrent);
  // All of the host's memory is alike.
  const bool numbered = location.type == cudaMemLocationTypeHostNuma;
  return {cudaMemLocationTypeHostNuma, numbered ? location.id : 0};
}

bool equal(const cudaMemLocation& a, const cudaMemLocation& b) {
  return a.type == b.type && a.id == b.id;
}

bool is_host(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeHost ||
      location.type == cudaMemLocationTypeHostNuma;
}

// What all pages of a range have in common.
Advice common_advice(const void* memory, std::size_t bytes) {
  const Advice none;
  Advice common;
  bool first = true;
  const std::uint64_t begin = address_of(memory);
  advice_map().visit(begin, begin + bytes, [&](const Advice& advice) {
    if (first) {
      common = advice;
      first = false;
      return;
    }
    common.read_mostly = common.read_mostly && advice.read_mostly;
    if (!equal(common.preferred, advice.preferred)) {
      common.preferred = none.preferred;
    }
    if (!equal(common.prefetched, advice.prefetched)) {
      common.prefetched = none.prefetched;
    }
    std::set<int> both;
    std::set_intersection(
        common.accessed_by.begin(),
        common.accessed_by.end(),
        advice.accessed_by.begin(),
        advice.accessed_by.end(),
        std::inserter(both, both.end()));
    common.accessed_by = std::move(both);
  });
  return common;
}

// As it is told in one number.
int device_of(const cudaMemLocation& location) {
  return is_host(location) ? cudaCpuDeviceId : location.id;
}

} // namespace

cudaMemLocation location_of(int device) {
  return device == cudaCpuDeviceId
      ? cudaMemLocation{cudaMemLocationTypeHost, cudaCpuDeviceId}
      : cudaMemLocation{cudaMemLocationTypeDevice, device};
}

void mem_advise(
    const void* memory,
    size_t bytes,
    cudaMemoryAdvise advice,
    cudaMemLocation location) {
  current_device();
  require(
      advice >= cudaMemAdviseSetReadMostly &&
      advice <= cudaMemAdviseUnsetAccessedBy);
  const bool placeless = advice == cudaMemAdviseSetReadMostly ||
      advice == cudaMemAdviseUnsetReadMostly ||
      advice == cudaMemAdviseUnsetPreferredLocation;
  const cudaMemLocation place =
      placeless ? Advice{}.preferred : known_location(location);
  require_managed(memory, bytes);
  const std::uint64_t begin = address_of(memory);
  advice_map().change(begin, begin + bytes, [&](Advice& said) {
    switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
        said.read_mostly = advice == cudaMemAdviseSetReadMostly;
        return;
      case cudaMemAdviseSetPreferredLocation:
      case cudaMemAdviseUnsetPreferredLocation:
        said.preferred = place;
        return;
      case cudaMemAdviseSetAccessedBy:
        said.accessed_by.insert(device_of(place));
        return;
      case cudaMemAdviseUnsetAccessedBy:
        said.accessed_by.erase(device_of(place));
        return;
    }
  });
}

void mem_prefetch_async(
    const void* memory,
    size_t bytes,
    cudaMemLocation location,
    unsigned flags,
    cudaStream_t stream) {
  require(flags == 0); // reserved
  resolve_stream(stream);
  const cudaMemLocation place = known_location(location);
  require_managed(memory, bytes);
  const std::uint64_t begin = address_of(memory);
  advice_map().change(
      begin, begin + bytes, [&](Advice& said) { said.prefetched = place; });
}

void mem_range_get_attribute(
    void* data,
    size_t size,
    cudaMemRangeAttribute attribute,
    const void* memory,
    size_t bytes) {
  require(data != nullptr && size >= sizeof(int) && size % sizeof(int) == 0);
  require(size == sizeof(int) || attribute == cudaMemRangeAttributeAccessedBy);
  require_managed(memory, bytes);
  const Advice advice = common_advice(memory, bytes);
  auto* const numbers = static_cast<int*>(data);
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      *numbers = advice.read_mostly ? 1 : 0;
      return;
    case cudaMemRangeAttributePreferredLocation:
      *numbers = device_of(advice.preferred);
      return;
    case cudaMemRangeAttributeLastPrefetchLocation:
      *numbers = device_of(advice.prefetched);
      return;
    case cudaMemRangeAttributeAccessedBy: {
      std::fill_n(numbers, size / sizeof(int), cudaInvalidDeviceId);
      std::size_t place = 0;
      for (const int device : advice.accessed_by) {
        if (place < size / sizeof(int)) {
          numbers[place++] = device;
        }
      }
      return;
    }
    case cudaMemRangeAttributePreferredLocationType:
      *numbers = advice.preferred.type;
      return;
    case cudaMemRangeAttributePreferredLocationId:
      *numbers = advice.preferred.id;
      return;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      *numbers = advice.prefetched.type;
      return;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      *numbers = advice.prefetched.id;
      return;
  }
  throw Failure(cudaErrorInvalidValue);
}

void mem_range_get_attributes(
    void** data,
    size_t* sizes,
    cudaMemRangeAttribute* attributes,
    size_t count,
    const void* memory,
    size_t bytes) {
  require(
      data != nullptr && sizes != nullptr && attributes != nullptr &&
      count > 0);
  for (std::size_t i = 0; i < count; ++i) {
    mem_range_get_attribute(data[i], sizes[i], attributes[i], memory, bytes);
  }
}

// All streams see what the host writes.
void stream_attach_mem_async(
    cudaStream_t stream,
    void* memory,
    size_t,
    unsigned flags) {
  resolve_stream(stream);
  require(
      flags == cudaMemAttachGlobal || flags == cudaMemAttachHost ||
      flags == cudaMemAttachSingle);
  require_managed(memory, 0);
}

} // namespace accelerator::runtime::operations
