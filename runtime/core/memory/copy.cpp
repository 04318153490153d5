#include "runtime/core/memory/copy.h"

#include <limits>

#include "runtime/core/memory/address_map.h"

namespace accelerator::runtime {
namespace {

// Sizes are the program's: what does not fit into 64 bits is more than there
// can be.
constexpr std::size_t kTooMuch = std::numeric_limits<std::size_t>::max();

std::size_t plus(std::size_t a, std::size_t b) {
  std::size_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooMuch : sum;
}

std::size_t times(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooMuch : product;
}

// Bytes from the first to one past the last of a box.
std::size_t reach(
    std::size_t width,
    std::size_t height,
    std::size_t depth,
    std::size_t pitch,
    std::size_t slice) {
  return plus(plus(times(depth - 1, slice), times(height - 1, pitch)), width);
}

// The end of what begins there; it has to lie below the end of all addresses.
std::uint64_t end_of(const void* memory, std::size_t bytes) {
  const std::uint64_t begin = address_of(memory);
  require(bytes != kTooMuch && bytes <= ~begin);
  return begin + bytes;
}

// A device address has to lie in memory that is allocated to its end; memory
// that is mapped piece by piece may go on in the next piece.
void check_extent(
    const AddressMap& addresses,
    const void* memory,
    std::size_t bytes) {
  std::uint64_t begin = address_of(memory);
  const std::uint64_t end = end_of(memory, bytes);
  while (begin < end) {
    const auto piece = addresses.find(begin);
    require(piece.has_value());
    require(piece->end >= end || piece->space == Space::kMapped);
    begin = piece->end;
  }
}

// Where a position in pitched memory is.
template <typename Byte>
Byte* at_position(
    Byte* begin,
    const cudaPos& position,
    std::size_t pitch,
    std::size_t slice) {
  const std::size_t offset = plus(
      plus(times(position.z, slice), times(position.y, pitch)), position.x);
  end_of(begin, offset);
  return begin + offset;
}

bool known_to_devices(AddressMap& addresses, const void* memory) {
  return addresses.find(address_of(memory)).has_value();
}

} // namespace

CopyWork linear_copy(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind) {
  CopyWork work;
  work.to = to;
  work.from = from;
  work.width = bytes;
  work.to_pitch = work.from_pitch = bytes;
  work.to_slice = work.from_slice = bytes;
  work.kind = kind;
  return work;
}

CopyWork plane_copy(
    void* to,
    std::size_t to_pitch,
    const void* from,
    std::size_t from_pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind) {
  CopyWork work;
  work.to = to;
  work.from = from;
  work.width = width;
  work.height = height;
  work.to_pitch = to_pitch;
  work.from_pitch = from_pitch;
  work.to_slice = times(to_pitch, height);
  work.from_slice = times(from_pitch, height);
  work.kind = kind;
  return work;
}

CopyWork box_copy(
    const BoxPlace& to,
    const BoxPlace& from,
    const cudaExtent& extent,
    cudaMemcpyKind kind) {
  CopyWork work;
  work.width = extent.width;
  work.height = extent.height;
  work.depth = extent.depth;
  work.to_pitch = to.memory.pitch;
  work.from_pitch = from.memory.pitch;
  work.to_slice = times(to.memory.pitch, to.memory.ysize);
  work.from_slice = times(from.memory.pitch, from.memory.ysize);
  work.to = at_position(
      static_cast<char*>(to.memory.ptr),
      to.position,
      work.to_pitch,
      work.to_slice);
  work.from = at_position(
      static_cast<const char*>(from.memory.ptr),
      from.position,
      work.from_pitch,
      work.from_slice);
  work.kind = kind;
  return work;
}

FillWork linear_fill(
    void* to,
    std::uint32_t value,
    unsigned element_size,
    std::size_t count) {
  FillWork work;
  work.to = to;
  work.value = value;
  work.element_size = element_size;
  work.width = count;
  work.pitch = work.slice = times(count, element_size);
  return work;
}

bool pageable(AddressMap& addresses, const void* memory) {
  return !known_to_devices(addresses, memory);
}

void check_copy(AddressMap& addresses, CopyWork& work) {
  require(
      work.kind >= cudaMemcpyHostToHost && work.kind <= cudaMemcpyDefault,
      cudaErrorInvalidMemcpyDirection);
  if (work.empty()) {
    return;
  }
  require(work.to != nullptr && work.from != nullptr);
  require(
      (work.height == 1 && work.depth == 1) ||
          (work.to_pitch >= work.width && work.from_pitch >= work.width),
      cudaErrorInvalidPitchValue);
  const bool to_known = known_to_devices(addresses, work.to);
  const bool from_known = known_to_devices(addresses, work.from);
  const bool to_device = work.kind == cudaMemcpyHostToDevice ||
      work.kind == cudaMemcpyDeviceToDevice;
  const bool from_device = work.kind == cudaMemcpyDeviceToHost ||
      work.kind == cudaMemcpyDeviceToDevice;
  require((to_known || !to_device) && (from_known || !from_device));
  if (work.kind == cudaMemcpyDefault) {
    const int code = (to_known ? 1 : 0) + (from_known ? 2 : 0);
    // cudaMemcpyKind numbers the same four cases.
    work.kind = static_cast<cudaMemcpyKind>(code);
  }
  const auto check_side = [&](const void* memory,
                              bool known,
                              std::size_t pitch,
                              std::size_t slice) {
    const std::size_t bytes =
        reach(work.width, work.height, work.depth, pitch, slice);
    if (known) {
      check_extent(addresses, memory, bytes);
    } else {
      end_of(memory, bytes); // of pageable memory no more is known
    }
  };
  check_side(work.to, to_known, work.to_pitch, work.to_slice);
  check_side(work.from, from_known, work.from_pitch, work.from_slice);
}

void check_fill(AddressMap& addresses, const FillWork& work) {
  if (work.empty()) {
    return;
  }
  require(work.to != nullptr);
  require(address_of(work.to) % work.element_size == 0);
  const std::size_t row = times(work.width, work.element_size);
  require(row != kTooMuch);
  require(
      (work.height == 1 && work.depth == 1) || work.pitch >= row,
      cudaErrorInvalidPitchValue);
  check_extent(
      addresses,
      work.to,
      reach(row, work.height, work.depth, work.pitch, work.slice));
}

} // namespace accelerator::runtime
