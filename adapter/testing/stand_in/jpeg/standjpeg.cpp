// nvJPEG's functions for the program of the row "C++ nvJPEG porting": baseline
// images whose blocks have one colour each, decoded by the host, and copies in
// the stream. All else is refused.
#include "standjpeg.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

struct standjpegHandle {};
struct standjpegJpegState {};

namespace {

int word(const std::uint8_t* at) {
  return at[0] << 8 | at[1];
}

// What stands before the picture.
struct Head {
  int width = 0;
  int height = 0;
  int count = 0; // of components
  int step = 1; // of a block's value, in eighths
  const std::uint8_t* codes = nullptr; // how many of each length, and values
  std::size_t scan = 0;
};

standjpegStatus_t read_segment(
    int marker,
    const std::uint8_t* content,
    Head& head) {
  switch (marker) {
    case 0xDB: // steps of one precision, one table
      head.step = content[1];
      break;
    case 0xC4: // codes of blocks' values; those of all else have one, "no more"
      if (content[0] == 0) {
        head.codes = content + 1;
      }
      break;
    case 0xC0:
      head.height = word(content + 1);
      head.width = word(content + 3);
      head.count = content[5];
      if (content[0] != 8 || (head.count != 1 && head.count != 3)) {
        return STANDJPEG_STATUS_JPEG_NOT_SUPPORTED;
      }
      for (int i = 0; i < head.count; ++i) {
        if (content[7 + 3 * i] != 0x11) { // as large as the picture
          return STANDJPEG_STATUS_JPEG_NOT_SUPPORTED;
        }
      }
      break;
    default:
      break;
  }
  return STANDJPEG_STATUS_SUCCESS;
}

standjpegStatus_t read_head(
    const std::uint8_t* data,
    std::size_t length,
    Head& head) {
  if (length < 4 || word(data) != 0xFFD8) {
    return STANDJPEG_STATUS_BAD_JPEG;
  }
  for (std::size_t at = 2; at + 4 <= length && head.scan == 0;) {
    const int marker = data[at + 1];
    const std::size_t end = at + 2 + word(data + at + 2);
    if (data[at] != 0xFF) {
      return STANDJPEG_STATUS_BAD_JPEG;
    }
    if (end > length) {
      break;
    }
    const auto status = read_segment(marker, data + at + 4, head);
    if (status != STANDJPEG_STATUS_SUCCESS) {
      return status;
    }
    head.scan = marker == 0xDA ? end : 0;
    at = end;
  }
  return head.count != 0 ? STANDJPEG_STATUS_SUCCESS
                         : STANDJPEG_STATUS_INCOMPLETE_BITSTREAM;
}

class Scan {
 public:
  Scan(const std::uint8_t* data, std::size_t length, const Head& head)
      : at_(data + head.scan), end_(data + length), codes_(head.codes) {}

  // The difference to the block before, and the code that says "no more".
  int difference() {
    const int size = coded();
    int value = 0;
    for (int i = 0; i < size; ++i) {
      value = value << 1 | bit();
    }
    (void)bit();
    return size > 0 && value >> (size - 1) == 0 ? value - (1 << size) + 1
                                                : value;
  }

 private:
  int bit() {
    if (left_ == 0) {
      byte_ = at_ < end_ ? *at_++ : 0;
      at_ += byte_ == 0xFF && at_ < end_ ? 1 : 0; // a zero is put behind it
      left_ = 8;
    }
    return byte_ >> --left_ & 1;
  }

  int coded() {
    const std::uint8_t* value = codes_ + 16;
    int code = 0;
    for (int length = 0, first = 0; length < 16; ++length) {
      code = code << 1 | bit();
      const int count = codes_[length];
      if (code - first < count) {
        return value[code - first];
      }
      first = (first + count) << 1;
      value += count;
    }
    return 0;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const std::uint8_t* codes_;
  int byte_ = 0;
  int left_ = 0;
};

std::uint8_t clamped(double value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

// Red, green and blue of each block, by ITU-T T.871.
std::vector<std::array<std::uint8_t, 3>> decode(Scan scan, const Head& head) {
  const int blocks = ((head.width + 7) / 8) * ((head.height + 7) / 8);
  std::vector<std::array<std::uint8_t, 3>> colours;
  int last[3] = {};
  for (int i = 0; i < blocks; ++i) {
    for (int c = 0; c < head.count; ++c) {
      last[c] += scan.difference();
    }
    const double y = 128 + last[0] * head.step / 8.0;
    const double cb = last[1] * head.step / 8.0;
    const double cr = last[2] * head.step / 8.0;
    colours.push_back(
        {clamped(y + 1.402 * cr),
         clamped(y - 0.344136 * cb - 0.714136 * cr),
         clamped(y + 1.772 * cb)});
  }
  return colours;
}

} // namespace

extern "C" {

standjpegStatus_t standjpegCreateSimple(standjpegHandle_t* handle) {
  *handle = new standjpegHandle;
  return STANDJPEG_STATUS_SUCCESS;
}

standjpegStatus_t standjpegDestroy(standjpegHandle_t handle) {
  delete handle;
  return STANDJPEG_STATUS_SUCCESS;
}

standjpegStatus_t standjpegJpegStateCreate(
    standjpegHandle_t /*handle*/,
    standjpegJpegState_t* state) {
  *state = new standjpegJpegState;
  return STANDJPEG_STATUS_SUCCESS;
}

standjpegStatus_t standjpegJpegStateDestroy(standjpegJpegState_t state) {
  delete state;
  return STANDJPEG_STATUS_SUCCESS;
}

standjpegStatus_t standjpegGetImageInfo(
    standjpegHandle_t /*handle*/,
    const unsigned char* data,
    size_t length,
    int* components,
    standjpegChromaSubsampling_t* subsampling,
    int* widths,
    int* heights) {
  Head head;
  const auto status = read_head(data, length, head);
  *components = head.count;
  *subsampling = head.count == 1 ? STANDJPEG_CSS_GRAY : STANDJPEG_CSS_444;
  std::fill_n(widths, head.count, head.width);
  std::fill_n(heights, head.count, head.height);
  return status;
}

standjpegStatus_t standjpegDecode(
    standjpegHandle_t /*handle*/,
    standjpegJpegState_t /*state*/,
    const unsigned char* data,
    size_t length,
    standjpegOutputFormat_t format,
    standjpegImage_t* destination,
    standStream_t stream) {
  Head head;
  const auto status = read_head(data, length, head);
  if (status != STANDJPEG_STATUS_SUCCESS) {
    return status;
  }
  if (head.scan == 0 || head.codes == nullptr ||
      word(data + length - 2) != 0xFFD9) {
    return STANDJPEG_STATUS_INCOMPLETE_BITSTREAM;
  }
  const auto colours = decode(Scan(data, length, head), head);
  const bool planes = format == STANDJPEG_OUTPUT_RGB;
  const int channels = planes ? 1 : 3; // of a plane
  for (int plane = 0; plane < (planes ? 3 : 1); ++plane) {
    for (int y = 0; y < head.height; ++y) {
      std::vector<std::uint8_t> row;
      for (int x = 0; x < head.width; ++x) {
        const auto& rgb = colours[y / 8 * ((head.width + 7) / 8) + x / 8];
        for (int c = 0; c < channels; ++c) {
          row.push_back(rgb[planes ? plane : 2 - c]);
        }
      }
      // Waits, as the bytes are in memory that is not pinned.
      if (standMemcpyAsync(
              destination->channel[plane] + y * destination->pitch[plane],
              row.data(),
              row.size(),
              standMemcpyHostToDevice,
              stream) != standSuccess) {
        return STANDJPEG_STATUS_EXECUTION_FAILED;
      }
    }
  }
  return STANDJPEG_STATUS_SUCCESS;
}

} // extern "C"
