// The functions of nvJPEG on the stand-in: the host decodes, and copies go in
// the stream.
#include "standjpeg.h"

#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "adapter/testing/stand_in/jpeg/decoder.h"
#include "adapter/testing/stand_in/jpeg/frame.h"

struct standjpegHandle {};
struct standjpegJpegState {};

namespace {

using stand::jpeg::Frame;
using stand::jpeg::Pixels;

/// One plane as it goes to the device.
struct Plane {
  std::size_t row = 0; // bytes
  std::vector<std::uint8_t> bytes;
};

/// Of all pixels, the values that `of` makes of red, green and blue.
template <typename Of>
Plane plane(const Pixels& pixels, Of of) {
  Plane result{static_cast<std::size_t>(pixels.width), {}};
  result.bytes.reserve(pixels.bytes.size() / 3);
  for (std::size_t i = 0; i < pixels.bytes.size(); i += 3) {
    result.bytes.push_back(of(&pixels.bytes[i]));
  }
  return result;
}

std::uint8_t brightness(const std::uint8_t* rgb) {
  // ITU-T T.871, in 1/65536.
  return static_cast<std::uint8_t>(
      (19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
}

Plane interleaved(const Pixels& pixels, bool blue_first) {
  Plane result{static_cast<std::size_t>(pixels.width) * 3, pixels.bytes};
  for (std::size_t i = 0; blue_first && i < result.bytes.size(); i += 3) {
    std::swap(result.bytes[i], result.bytes[i + 2]);
  }
  return result;
}

std::vector<Plane> planes(
    const Pixels& pixels,
    standjpegOutputFormat_t format) {
  std::vector<Plane> result;
  switch (format) {
    case STANDJPEG_OUTPUT_RGB:
    case STANDJPEG_OUTPUT_BGR:
      for (int i = 0; i < 3; ++i) {
        const int channel = format == STANDJPEG_OUTPUT_RGB ? i : 2 - i;
        result.push_back(plane(
            pixels, [&](const std::uint8_t* rgb) { return rgb[channel]; }));
      }
      break;
    case STANDJPEG_OUTPUT_RGBI:
    case STANDJPEG_OUTPUT_BGRI:
      result.push_back(interleaved(pixels, format == STANDJPEG_OUTPUT_BGRI));
      break;
    default: // of a grayscale image all three are the brightness
      result.push_back(plane(pixels, brightness));
  }
  return result;
}

standjpegStatus_t copy(
    const std::vector<Plane>& from,
    const standjpegImage_t& to,
    standStream_t stream) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Plane& plane = from[i];
    for (std::size_t y = 0; y * plane.row < plane.bytes.size(); ++y) {
      // Waits, as the bytes are in memory that is not pinned.
      if (standMemcpyAsync(
              to.channel[i] + y * to.pitch[i],
              &plane.bytes[y * plane.row],
              plane.row,
              standMemcpyHostToDevice,
              stream) != standSuccess) {
        return STANDJPEG_STATUS_EXECUTION_FAILED;
      }
    }
  }
  return STANDJPEG_STATUS_SUCCESS;
}

bool fits(const std::vector<Plane>& from, const standjpegImage_t& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (to.channel[i] == nullptr || to.pitch[i] < from[i].row) {
      return false;
    }
  }
  return true;
}

standjpegStatus_t decode(
    const unsigned char* data,
    std::size_t length,
    standjpegOutputFormat_t format,
    const standjpegImage_t& destination,
    standStream_t stream) {
  Frame frame;
  bool complete = false;
  const auto status = stand::jpeg::read_frame(data, length, frame, complete);
  if (status != STANDJPEG_STATUS_SUCCESS) {
    return status;
  }
  if (!complete) {
    return STANDJPEG_STATUS_INCOMPLETE_BITSTREAM;
  }
  const bool as_stored =
      format == STANDJPEG_OUTPUT_UNCHANGED || format == STANDJPEG_OUTPUT_YUV;
  if (as_stored && frame.count != 1) {
    return STANDJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED;
  }
  const std::optional<Pixels> pixels = stand::jpeg::decode(data, length);
  if (!pixels || pixels->width != frame.width ||
      pixels->height != frame.height) {
    return STANDJPEG_STATUS_BAD_JPEG;
  }
  const std::vector<Plane> from = planes(*pixels, format);
  if (!fits(from, destination)) {
    return STANDJPEG_STATUS_INVALID_PARAMETER;
  }
  return copy(from, destination, stream);
}

} // namespace

extern "C" {

standjpegStatus_t standjpegCreateSimple(standjpegHandle_t* handle) {
  return standjpegCreate(STANDJPEG_BACKEND_DEFAULT, nullptr, handle);
}

standjpegStatus_t standjpegCreate(
    standjpegBackend_t backend,
    void* allocator,
    standjpegHandle_t* handle) {
  if (handle == nullptr || allocator != nullptr ||
      backend < STANDJPEG_BACKEND_DEFAULT ||
      backend > STANDJPEG_BACKEND_GPU_HYBRID) {
    return STANDJPEG_STATUS_INVALID_PARAMETER;
  }
  if (!stand::jpeg::has_decoder()) {
    return STANDJPEG_STATUS_NOT_INITIALIZED;
  }
  *handle = new (std::nothrow) standjpegHandle;
  return *handle != nullptr ? STANDJPEG_STATUS_SUCCESS
                            : STANDJPEG_STATUS_ALLOCATOR_FAILURE;
}

standjpegStatus_t standjpegDestroy(standjpegHandle_t handle) {
  delete handle;
  return handle != nullptr ? STANDJPEG_STATUS_SUCCESS
                           : STANDJPEG_STATUS_INVALID_PARAMETER;
}

standjpegStatus_t standjpegJpegStateCreate(
    standjpegHandle_t handle,
    standjpegJpegState_t* state) {
  if (handle == nullptr || state == nullptr) {
    return STANDJPEG_STATUS_INVALID_PARAMETER;
  }
  *state = new (std::nothrow) standjpegJpegState;
  return *state != nullptr ? STANDJPEG_STATUS_SUCCESS
                           : STANDJPEG_STATUS_ALLOCATOR_FAILURE;
}

standjpegStatus_t standjpegJpegStateDestroy(standjpegJpegState_t state) {
  delete state;
  return state != nullptr ? STANDJPEG_STATUS_SUCCESS
                          : STANDJPEG_STATUS_INVALID_PARAMETER;
}

standjpegStatus_t standjpegGetImageInfo(
    standjpegHandle_t handle,
    const unsigned char* data,
    size_t length,
    int* components,
    standjpegChromaSubsampling_t* subsampling,
    int* widths,
    int* heights) {
  if (handle == nullptr || data == nullptr || components == nullptr ||
      subsampling == nullptr || widths == nullptr || heights == nullptr) {
    return STANDJPEG_STATUS_INVALID_PARAMETER;
  }
  Frame frame;
  bool complete = false;
  const auto status = stand::jpeg::read_frame(data, length, frame, complete);
  if (status != STANDJPEG_STATUS_SUCCESS) {
    return status;
  }
  *components = frame.count;
  *subsampling = frame.subsampling();
  for (int i = 0; i < STANDJPEG_MAX_COMPONENT; ++i) {
    widths[i] = i < frame.count ? frame.width_of(i) : 0;
    heights[i] = i < frame.count ? frame.height_of(i) : 0;
  }
  return STANDJPEG_STATUS_SUCCESS;
}

standjpegStatus_t standjpegDecode(
    standjpegHandle_t handle,
    standjpegJpegState_t state,
    const unsigned char* data,
    size_t length,
    standjpegOutputFormat_t format,
    standjpegImage_t* destination,
    standStream_t stream) {
  if (handle == nullptr || state == nullptr || data == nullptr ||
      destination == nullptr || format < STANDJPEG_OUTPUT_UNCHANGED ||
      format > STANDJPEG_OUTPUT_BGRI) {
    return STANDJPEG_STATUS_INVALID_PARAMETER;
  }
  try {
    return decode(data, length, format, *destination, stream);
  } catch (const std::bad_alloc&) {
    return STANDJPEG_STATUS_ALLOCATOR_FAILURE;
  }
}

} // extern "C"
