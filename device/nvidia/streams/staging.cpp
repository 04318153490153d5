#include "device/nvidia/streams/staging.h"

#include <algorithm>
#include <cstring>

#include "device/nvidia/driver/error.h"
#include "device/nvidia/streams/stream.h"

namespace accelerator::nvidia {
namespace {

// Rows, a piece of a box.
struct Rows {
  char* to;
  const char* from;
  std::uint64_t to_pitch;
  std::uint64_t from_pitch;
  std::uint64_t width; // bytes
  std::uint64_t height;
};

void copy_on_host(const Rows& rows) {
  for (std::uint64_t y = 0; y < rows.height; ++y) {
    std::memmove(
        rows.to + y * rows.to_pitch,
        rows.from + y * rows.from_pitch,
        rows.width);
  }
}

// All of it is memory that the driver knows.
void copy_on_device(Stream& stream, const Rows& rows) {
  const auto most_pitch = static_cast<std::uint64_t>(
      stream.device().attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
  const auto fits = [&](std::uint64_t pitch) {
    return pitch >= rows.width && pitch <= most_pitch;
  };
  if (rows.height > 1 && fits(rows.to_pitch) && fits(rows.from_pitch)) {
    CUDA_MEMCPY2D plane{};
    plane.srcMemoryType = plane.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    plane.srcDevice = address_of(rows.from);
    plane.dstDevice = address_of(rows.to);
    plane.srcPitch = rows.from_pitch;
    plane.dstPitch = rows.to_pitch;
    plane.WidthInBytes = rows.width;
    plane.Height = rows.height;
    stream.put([plane](CUstream native) {
      ACCEL_DRIVER(cuMemcpy2DAsync, &plane, native);
    });
    return;
  }
  for (std::uint64_t y = 0; y < rows.height; ++y) {
    const CUdeviceptr to = address_of(rows.to + y * rows.to_pitch);
    const CUdeviceptr from = address_of(rows.from + y * rows.from_pitch);
    stream.put([to, from, width = rows.width](CUstream native) {
      ACCEL_DRIVER(cuMemcpyAsync, to, from, width, native);
    });
  }
}

// A piece that fits into the stream's pinned memory, which other pieces use
// before and after this one.
void copy_staged(Stream& stream, const Rows& rows, bool from_host) {
  const auto block = stream.block();
  Rows first = rows;
  Rows second = rows;
  first.to = block->room();
  first.to_pitch = rows.width;
  second.from = block->room();
  second.from_pitch = rows.width;
  if (from_host) {
    stream.add_host_work([first, block] { copy_on_host(first); });
    copy_on_device(stream, second);
  } else {
    copy_on_device(stream, first);
    stream.add_host_work([second, block] { copy_on_host(second); });
  }
}

void copy_in_pieces(Stream& stream, const Rows& rows, bool from_host) {
  constexpr std::uint64_t room = HostBlock::kRoom;
  const std::uint64_t at_once =
      std::max<std::uint64_t>(room / std::min(rows.width, room), 1);
  for (std::uint64_t y = 0; y < rows.height; y += at_once) {
    for (std::uint64_t x = 0; x < rows.width; x += room) {
      Rows piece = rows;
      piece.to += y * rows.to_pitch + x;
      piece.from += y * rows.from_pitch + x;
      piece.width = std::min(rows.width - x, room);
      piece.height = std::min(rows.height - y, at_once);
      copy_staged(stream, piece, from_host);
    }
  }
}

bool is_known(const char* address) {
  unsigned type = 0;
  return driver().cuPointerGetAttribute(
             &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(address)) ==
      CUDA_SUCCESS;
}

// Whether the host's memory has to be staged: its first or last byte is not
// pinned.
bool is_pageable(const accel_copy& copy, bool from_host) {
  const auto* begin = static_cast<const char*>(from_host ? copy.from : copy.to);
  const std::uint64_t pitch = from_host ? copy.from_pitch : copy.to_pitch;
  const std::uint64_t slice = from_host ? copy.from_slice : copy.to_slice;
  const std::uint64_t last =
      (copy.depth - 1) * slice + (copy.height - 1) * pitch + copy.width - 1;
  return !is_known(begin) || !is_known(begin + last);
}

Rows slice_of(const accel_copy& copy, std::uint64_t z) {
  return {
      static_cast<char*>(copy.to) + z * copy.to_slice,
      static_cast<const char*>(copy.from) + z * copy.from_slice,
      copy.to_pitch,
      copy.from_pitch,
      copy.width,
      copy.height};
}

} // namespace

void put_copy(Stream& stream, const accel_copy& copy) {
  const std::lock_guard lock(stream.mutex());
  const bool to_host = copy.to_device == ACCEL_HOST;
  const bool from_host = copy.from_device == ACCEL_HOST;
  if (to_host && from_host) {
    stream.add_host_work([copy] {
      for (std::uint64_t z = 0; z < copy.depth; ++z) {
        copy_on_host(slice_of(copy, z));
      }
    });
    return;
  }
  const bool staged = (to_host || from_host) && is_pageable(copy, from_host);
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    if (staged) {
      copy_in_pieces(stream, slice_of(copy, z), from_host);
    } else {
      copy_on_device(stream, slice_of(copy, z));
    }
  }
}

} // namespace accelerator::nvidia
