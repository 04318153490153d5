// Of the ABI: copies and fills.
#include "device/nvidia/api/api.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/driver/error.h"
#include "device/nvidia/streams/staging.h"
#include "device/nvidia/streams/stream.h"

namespace accelerator::nvidia {
namespace {

template <typename Box>
void require_box(const Box& work) {
  require_argument(work.width > 0, "width", work.width, "1 or more");
  require_argument(work.height > 0, "height", work.height, "1 or more");
  require_argument(work.depth > 0, "depth", work.depth, "1 or more");
}

// The stream's device stays the one that the function is about.
void require_side(std::int32_t device, const Stream& stream) {
  if (device != ACCEL_HOST) {
    device_of(device);
  }
  concern(stream.device().number());
}

accel_status copy(accel_stream stream, const accel_copy* work) {
  return call("copy", [&] {
    Stream& where = stream_of(stream);
    require_box(*work);
    require_side(work->to_device, where);
    require_side(work->from_device, where);
    where.device().require_health();
    const Current current(where.device());
    put_copy(where, *work);
  });
}

void fill_plane(CUstream stream, const accel_fill& work, CUdeviceptr to) {
  const std::uint64_t pitch = work.pitch;
  const std::uint64_t width = work.width;
  const std::uint64_t height = work.height;
  const std::uint32_t value = work.value;
  const auto byte = static_cast<unsigned char>(value);
  const auto two = static_cast<unsigned short>(value);
  switch (work.element_size) {
    case 1:
      return ACCEL_DRIVER(
          cuMemsetD2D8Async, to, pitch, byte, width, height, stream);
    case 2:
      return ACCEL_DRIVER(
          cuMemsetD2D16Async, to, pitch, two, width, height, stream);
    default:
      return ACCEL_DRIVER(
          cuMemsetD2D32Async, to, pitch, value, width, height, stream);
  }
}

void fill_row(CUstream stream, const accel_fill& work, CUdeviceptr to) {
  const auto byte = static_cast<unsigned char>(work.value);
  const auto two = static_cast<unsigned short>(work.value);
  switch (work.element_size) {
    case 1:
      return ACCEL_DRIVER(cuMemsetD8Async, to, byte, work.width, stream);
    case 2:
      return ACCEL_DRIVER(cuMemsetD16Async, to, two, work.width, stream);
    default:
      return ACCEL_DRIVER(cuMemsetD32Async, to, work.value, work.width, stream);
  }
}

// Rows of one slice, in one piece where the driver takes their pitch.
void fill_slice(
    Stream& stream,
    const accel_fill& work,
    CUdeviceptr to,
    std::uint64_t most_pitch) {
  const std::uint64_t bytes = work.width * work.element_size;
  if (work.height > 1 && work.pitch >= bytes && work.pitch <= most_pitch) {
    stream.put([work, to](CUstream native) { fill_plane(native, work, to); });
    return;
  }
  for (std::uint64_t y = 0; y < work.height; ++y, to += work.pitch) {
    stream.put([work, to](CUstream native) { fill_row(native, work, to); });
  }
}

accel_status fill(accel_stream stream, const accel_fill* work) {
  return call("fill", [&] {
    Stream& where = stream_of(stream);
    require_box(*work);
    const std::uint32_t size = work->element_size;
    require_argument(
        size == 1 || size == 2 || size == 4, "element_size", size, "1, 2 or 4");
    const auto require_multiple = [&](const char* name, std::uint64_t value) {
      require_argument(
          value % size == 0, name, value, "a multiple of element_size");
    };
    const auto to = reinterpret_cast<CUdeviceptr>(work->to);
    require_multiple("to", to);
    require_multiple("pitch", work->pitch);
    require_multiple("slice", work->slice);
    where.device().require_health();
    const Current current(where.device());
    const std::lock_guard lock(where.mutex());
    const auto most_pitch = static_cast<std::uint64_t>(
        where.device().attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
    for (std::uint64_t z = 0; z < work->depth; ++z) {
      fill_slice(where, *work, to + z * work->slice, most_pitch);
    }
  });
}

} // namespace

void add_copies(accel_api* api) {
  api->copy = copy;
  api->fill = fill;
}

} // namespace accelerator::nvidia
