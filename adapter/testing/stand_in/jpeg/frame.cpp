#include "adapter/testing/stand_in/jpeg/frame.h"

#include <algorithm>

namespace stand::jpeg {
namespace {

// Markers: the second byte behind 0xFF.
constexpr int kStartOfImage = 0xD8;
constexpr int kEndOfImage = 0xD9;
constexpr int kStartOfScan = 0xDA;
constexpr int kHuffmanTables = 0xC4;
constexpr int kArithmeticTables = 0xCC;
constexpr int kReserved = 0xC8;

bool is_frame(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != kHuffmanTables &&
      marker != kArithmeticTables && marker != kReserved;
}

int word(const std::uint8_t* at) {
  return at[0] << 8 | at[1];
}

int scaled(int pixels, int factor, int most) {
  return (pixels * factor + most - 1) / most;
}

/// @param at, @param size a frame's segment behind its length.
standjpegStatus_t parse(
    const std::uint8_t* at,
    std::size_t size,
    Frame& frame) {
  if (size < 6) {
    return STANDJPEG_STATUS_BAD_JPEG;
  }
  const int precision = at[0];
  frame.height = word(at + 1);
  frame.width = word(at + 3);
  frame.count = at[5];
  // A height of zero stands behind the first scan.
  if (precision != 8 || frame.height == 0 ||
      (frame.count != 1 && frame.count != 3)) {
    return STANDJPEG_STATUS_JPEG_NOT_SUPPORTED;
  }
  if (frame.width == 0 || size != 6 + 3 * static_cast<unsigned>(frame.count)) {
    return STANDJPEG_STATUS_BAD_JPEG;
  }
  for (int i = 0; i < frame.count; ++i) {
    const int factors = at[7 + 3 * i];
    Component& component = frame.components[static_cast<unsigned>(i)];
    component = {factors >> 4, factors & 15};
    if (component.horizontal < 1 || component.horizontal > 4 ||
        component.vertical < 1 || component.vertical > 4) {
      return STANDJPEG_STATUS_BAD_JPEG;
    }
  }
  return STANDJPEG_STATUS_SUCCESS;
}

} // namespace

int Frame::width_of(int component) const {
  int most = 1;
  for (const Component& other : components) {
    most = std::max(most, other.horizontal);
  }
  return scaled(
      width, components[static_cast<unsigned>(component)].horizontal, most);
}

int Frame::height_of(int component) const {
  int most = 1;
  for (const Component& other : components) {
    most = std::max(most, other.vertical);
  }
  return scaled(
      height, components[static_cast<unsigned>(component)].vertical, most);
}

standjpegChromaSubsampling_t Frame::subsampling() const {
  if (count == 1) {
    return STANDJPEG_CSS_GRAY;
  }
  const auto& [luma, first, second] = components;
  if (first.horizontal != second.horizontal ||
      first.vertical != second.vertical ||
      luma.horizontal % first.horizontal != 0 ||
      luma.vertical % first.vertical != 0) {
    return STANDJPEG_CSS_UNKNOWN;
  }
  const int columns = luma.horizontal / first.horizontal;
  const int rows = luma.vertical / first.vertical;
  switch (columns * 10 + rows) {
    case 11:
      return STANDJPEG_CSS_444;
    case 21:
      return STANDJPEG_CSS_422;
    case 22:
      return STANDJPEG_CSS_420;
    case 12:
      return STANDJPEG_CSS_440;
    case 41:
      return STANDJPEG_CSS_411;
    case 42:
      return STANDJPEG_CSS_410;
    default:
      return STANDJPEG_CSS_UNKNOWN;
  }
}

standjpegStatus_t read_frame(
    const std::uint8_t* data,
    std::size_t length,
    Frame& frame,
    bool& complete) {
  complete = false;
  if (length < 4 || data[0] != 0xFF || data[1] != kStartOfImage) {
    return STANDJPEG_STATUS_BAD_JPEG;
  }
  bool found = false;
  std::size_t at = 2;
  while (at + 4 <= length) {
    if (data[at] != 0xFF) {
      return STANDJPEG_STATUS_BAD_JPEG;
    }
    const int marker = data[at + 1];
    if (marker == 0xFF) { // fills up
      ++at;
      continue;
    }
    const auto size = static_cast<std::size_t>(word(data + at + 2));
    if (size < 2 || marker == kEndOfImage || marker == kStartOfImage) {
      return STANDJPEG_STATUS_BAD_JPEG;
    }
    if (at + 2 + size > length) {
      return found ? STANDJPEG_STATUS_SUCCESS
                   : STANDJPEG_STATUS_INCOMPLETE_BITSTREAM;
    }
    if (marker == kStartOfScan) {
      break;
    }
    if (is_frame(marker)) {
      // Baseline, extended and progressive by Huffman's codes.
      if (marker > 0xC2) {
        return STANDJPEG_STATUS_JPEG_NOT_SUPPORTED;
      }
      const auto status = parse(data + at + 4, size - 2, frame);
      if (status != STANDJPEG_STATUS_SUCCESS) {
        return status;
      }
      found = true;
    }
    at += 2 + size;
  }
  const std::uint8_t end[] = {0xFF, kEndOfImage};
  const std::uint8_t* last = data + length;
  complete = std::search(data + at, last, end, end + 2) != last;
  return found ? STANDJPEG_STATUS_SUCCESS
               : STANDJPEG_STATUS_INCOMPLETE_BITSTREAM;
}

} // namespace stand::jpeg
