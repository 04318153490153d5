// Images made here, of blocks of one colour each, come back as they are; what
// is no image is refused.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "standjpeg.h"

#if __has_include(<nvjpeg.h>)
#include <nvjpeg.h>

// The header that programs were written for, and this one, have the same
// numbers.
#define SAME(name) static_assert(int{STAND##name} == int{NV##name})
SAME(JPEG_STATUS_SUCCESS);
SAME(JPEG_STATUS_NOT_INITIALIZED);
SAME(JPEG_STATUS_INVALID_PARAMETER);
SAME(JPEG_STATUS_BAD_JPEG);
SAME(JPEG_STATUS_JPEG_NOT_SUPPORTED);
SAME(JPEG_STATUS_ALLOCATOR_FAILURE);
SAME(JPEG_STATUS_EXECUTION_FAILED);
SAME(JPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
SAME(JPEG_STATUS_INCOMPLETE_BITSTREAM);
SAME(JPEG_CSS_444);
SAME(JPEG_CSS_422);
SAME(JPEG_CSS_420);
SAME(JPEG_CSS_440);
SAME(JPEG_CSS_411);
SAME(JPEG_CSS_410);
SAME(JPEG_CSS_GRAY);
SAME(JPEG_CSS_UNKNOWN);
SAME(JPEG_OUTPUT_UNCHANGED);
SAME(JPEG_OUTPUT_YUV);
SAME(JPEG_OUTPUT_Y);
SAME(JPEG_OUTPUT_RGB);
SAME(JPEG_OUTPUT_BGR);
SAME(JPEG_OUTPUT_RGBI);
SAME(JPEG_OUTPUT_BGRI);
SAME(JPEG_BACKEND_DEFAULT);
SAME(JPEG_BACKEND_HYBRID);
SAME(JPEG_BACKEND_GPU_HYBRID);
static_assert(STANDJPEG_MAX_COMPONENT == NVJPEG_MAX_COMPONENT);
static_assert(sizeof(standjpegImage_t) == sizeof(nvjpegImage_t));
#endif

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Y, Cb and Cr of a block of 8 * 8 pixels; of a gray one, Y alone.
using Colour = std::vector<int>;
using Rows = std::vector<std::vector<Colour>>;

/// Bits behind each other, as the scan of a JPEG image has them.
class Bits {
 public:
  void put(unsigned value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      current_ = current_ << 1 | (value >> i & 1);
      if (++filled_ == 8) {
        bytes_.push_back(static_cast<std::uint8_t>(current_));
        if (bytes_.back() == 0xFF) {
          bytes_.push_back(0);
        }
        current_ = 0;
        filled_ = 0;
      }
    }
  }
  Bytes take() {
    while (filled_ != 0) {
      put(1, 1);
    }
    return bytes_;
  }

 private:
  Bytes bytes_;
  unsigned current_ = 0;
  int filled_ = 0;
};

void add(Bytes& image, int marker, const Bytes& content) {
  const std::size_t size = content.size() + 2;
  image.insert(
      image.end(),
      {0xFF,
       static_cast<std::uint8_t>(marker),
       static_cast<std::uint8_t>(size >> 8),
       static_cast<std::uint8_t>(size)});
  image.insert(image.end(), content.begin(), content.end());
}

/// A baseline image whose blocks have nothing but their mean (ITU-T T.81).
Bytes encode(const Rows& rows, std::size_t width, std::size_t height) {
  const std::size_t count = rows[0][0].size();
  Bytes image{0xFF, 0xD8};
  Bytes steps(65, 1);
  steps[0] = 0;
  steps[1] = 8; // of the mean: a step is one value of a pixel
  add(image, 0xDB, steps);
  Bytes frame{
      8,
      static_cast<std::uint8_t>(height >> 8),
      static_cast<std::uint8_t>(height),
      static_cast<std::uint8_t>(width >> 8),
      static_cast<std::uint8_t>(width),
      static_cast<std::uint8_t>(count)};
  Bytes scan{static_cast<std::uint8_t>(count)};
  for (std::uint8_t i = 1; i <= count; ++i) {
    frame.insert(frame.end(), {i, 0x11, 0});
    scan.insert(scan.end(), {i, 0});
  }
  scan.insert(scan.end(), {0, 63, 0});
  add(image, 0xC0, frame);
  // Sizes of differences have codes of four bits; "nothing more" is one zero.
  Bytes sizes(17, 0);
  sizes[4] = 12;
  for (std::uint8_t i = 0; i < 12; ++i) {
    sizes.push_back(i);
  }
  add(image, 0xC4, sizes);
  Bytes ends(18, 0);
  ends[0] = 0x10;
  ends[1] = 1;
  add(image, 0xC4, ends);
  add(image, 0xDA, scan);
  Bits bits;
  std::vector<int> last(count, 128);
  for (const auto& row : rows) {
    for (const Colour& colour : row) {
      for (std::size_t i = 0; i < count; ++i) {
        const int step = colour[i] - last[i];
        last[i] = colour[i];
        int size = 0;
        while (std::abs(step) >> size != 0) {
          ++size;
        }
        bits.put(static_cast<unsigned>(size), 4);
        bits.put(
            static_cast<unsigned>(step >= 0 ? step : step + (1 << size) - 1),
            size);
        bits.put(0, 1);
      }
    }
  }
  const Bytes coded = bits.take();
  image.insert(image.end(), coded.begin(), coded.end());
  image.insert(image.end(), {0xFF, 0xD9});
  return image;
}

const Rows kColours{
    {{76, 85, 255}, {150, 44, 21}}, // red, green
    {{29, 255, 107}, {200, 128, 128}}}; // blue, gray
const int kExpected[4][3] = {
    {254, 0, 0},
    {0, 255, 1},
    {0, 0, 254},
    {200, 200, 200}};

class Jpeg : public ::testing::Test {
 protected:
  static constexpr int kWidth = 13;
  static constexpr int kHeight = 11;
  static constexpr std::size_t kPitch = 48;

  Jpeg() {
    EXPECT_EQ(standjpegCreateSimple(&handle), STANDJPEG_STATUS_SUCCESS);
    EXPECT_EQ(
        standjpegJpegStateCreate(handle, &state), STANDJPEG_STATUS_SUCCESS);
    EXPECT_EQ(standStreamCreate(&stream), standSuccess);
    for (unsigned char*& channel : image.channel) {
      EXPECT_EQ(
          standMalloc(reinterpret_cast<void**>(&channel), kPitch * 16),
          standSuccess);
      EXPECT_EQ(standMemset(channel, 77, kPitch * 16), standSuccess);
    }
    for (std::size_t& pitch : image.pitch) {
      pitch = kPitch;
    }
  }
  ~Jpeg() override {
    for (unsigned char* channel : image.channel) {
      EXPECT_EQ(standFree(channel), standSuccess);
    }
    EXPECT_EQ(standStreamDestroy(stream), standSuccess);
    EXPECT_EQ(standjpegJpegStateDestroy(state), STANDJPEG_STATUS_SUCCESS);
    EXPECT_EQ(standjpegDestroy(handle), STANDJPEG_STATUS_SUCCESS);
  }
  standjpegStatus_t decode(const Bytes& data, standjpegOutputFormat_t format) {
    return standjpegDecode(
        handle, state, data.data(), data.size(), format, &image, stream);
  }
  Bytes channel(int number) {
    Bytes bytes(kPitch * 16);
    EXPECT_EQ(standStreamSynchronize(stream), standSuccess);
    EXPECT_EQ(
        standMemcpy(
            bytes.data(),
            image.channel[number],
            bytes.size(),
            standMemcpyDeviceToHost),
        standSuccess);
    return bytes;
  }
  /// One value of a plane, with nothing written beside its rows.
  void expect_plane(int number, int colour) {
    const Bytes bytes = channel(number);
    for (int y = 0; y < 16; ++y) {
      for (int x = 0; x < static_cast<int>(kPitch); ++x) {
        const int block = (y / 8) * 2 + x / 8;
        const bool inside = x < kWidth && y < kHeight;
        EXPECT_NEAR(
            bytes[static_cast<unsigned>(y) * kPitch + static_cast<unsigned>(x)],
            inside ? kExpected[block][colour] : 77,
            inside ? 2 : 0)
            << x << ' ' << y;
      }
    }
  }

  standjpegHandle_t handle = nullptr;
  standjpegJpegState_t state = nullptr;
  standStream_t stream = nullptr;
  standjpegImage_t image{};
  const Bytes colours = encode(kColours, kWidth, kHeight);
};

TEST_F(Jpeg, PlanesHaveTheirColours) {
  ASSERT_EQ(decode(colours, STANDJPEG_OUTPUT_RGB), STANDJPEG_STATUS_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    expect_plane(i, i);
  }
  ASSERT_EQ(decode(colours, STANDJPEG_OUTPUT_BGR), STANDJPEG_STATUS_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    expect_plane(i, 2 - i);
  }
}

TEST_F(Jpeg, ColoursLieBesideEachOther) {
  for (const bool blue_first : {false, true}) {
    ASSERT_EQ(
        decode(
            colours,
            blue_first ? STANDJPEG_OUTPUT_BGRI : STANDJPEG_OUTPUT_RGBI),
        STANDJPEG_STATUS_SUCCESS);
    const Bytes bytes = channel(0);
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_NEAR(
          bytes[9 * kPitch + 3 * 12 + i],
          kExpected[3][blue_first ? 2 - i : i],
          2);
      EXPECT_NEAR(bytes[i], kExpected[0][blue_first ? 2 - i : i], 2);
    }
    EXPECT_EQ(bytes[3 * kWidth], 77);
  }
}

TEST_F(Jpeg, BrightnessIsTheImagesOwn) {
  ASSERT_EQ(decode(colours, STANDJPEG_OUTPUT_Y), STANDJPEG_STATUS_SUCCESS);
  const Bytes bytes = channel(0);
  EXPECT_NEAR(bytes[0], 76, 2);
  EXPECT_NEAR(bytes[8], 150, 2);
  EXPECT_NEAR(bytes[8 * kPitch], 29, 2);
  const Bytes gray = encode({{{10}, {250}}}, 16, 8);
  for (const auto format :
       {STANDJPEG_OUTPUT_UNCHANGED, STANDJPEG_OUTPUT_YUV, STANDJPEG_OUTPUT_Y}) {
    ASSERT_EQ(decode(gray, format), STANDJPEG_STATUS_SUCCESS);
    EXPECT_EQ(channel(0)[0], 10);
    EXPECT_EQ(channel(0)[8], 250);
  }
  EXPECT_EQ(
      decode(colours, STANDJPEG_OUTPUT_YUV),
      STANDJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
}

TEST_F(Jpeg, TheHeadIsRead) {
  int count = 0;
  auto subsampling = STANDJPEG_CSS_UNKNOWN;
  int widths[STANDJPEG_MAX_COMPONENT];
  int heights[STANDJPEG_MAX_COMPONENT];
  const auto info = [&](const Bytes& data) {
    return standjpegGetImageInfo(
        handle,
        data.data(),
        data.size(),
        &count,
        &subsampling,
        widths,
        heights);
  };
  ASSERT_EQ(info(colours), STANDJPEG_STATUS_SUCCESS);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(subsampling, STANDJPEG_CSS_444);
  EXPECT_EQ(std::vector<int>(widths, widths + 4), (std::vector{13, 13, 13, 0}));
  EXPECT_EQ(heights[2], 11);
  ASSERT_EQ(info(encode({{{1}}}, 8, 8)), STANDJPEG_STATUS_SUCCESS);
  EXPECT_EQ(subsampling, STANDJPEG_CSS_GRAY);
  // The first component's factors are the 12th byte of the frame's segment.
  Bytes halved = colours;
  const std::size_t frame = 2 + 2 + 67 + 2 + 2;
  ASSERT_EQ(halved[frame + 7], 0x11);
  for (const auto& [factors, expected, width, height] :
       {std::tuple{0x21, STANDJPEG_CSS_422, 7, 11},
        std::tuple{0x22, STANDJPEG_CSS_420, 7, 6},
        std::tuple{0x12, STANDJPEG_CSS_440, 13, 6},
        std::tuple{0x41, STANDJPEG_CSS_411, 4, 11},
        std::tuple{0x42, STANDJPEG_CSS_410, 4, 6},
        std::tuple{0x31, STANDJPEG_CSS_UNKNOWN, 5, 11}}) {
    halved[frame + 7] = static_cast<std::uint8_t>(factors);
    ASSERT_EQ(info(halved), STANDJPEG_STATUS_SUCCESS);
    EXPECT_EQ(subsampling, expected);
    EXPECT_EQ(widths[0], 13);
    EXPECT_EQ(widths[1], width);
    EXPECT_EQ(heights[1], height);
  }
  Bytes twelve = colours;
  twelve[frame] = 12;
  EXPECT_EQ(info(twelve), STANDJPEG_STATUS_JPEG_NOT_SUPPORTED);
  Bytes lossless = colours;
  lossless[frame - 3] = 0xC3;
  EXPECT_EQ(info(lossless), STANDJPEG_STATUS_JPEG_NOT_SUPPORTED);
  EXPECT_EQ(info(Bytes(100, 1)), STANDJPEG_STATUS_BAD_JPEG);
}

TEST_F(Jpeg, WhatIsNoImageLeavesTheMemory) {
  for (std::size_t length = 1; length < colours.size(); ++length) {
    Bytes part(
        colours.begin(), colours.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(
        decode(part, STANDJPEG_OUTPUT_RGB),
        length < 4 ? STANDJPEG_STATUS_BAD_JPEG
                   : STANDJPEG_STATUS_INCOMPLETE_BITSTREAM)
        << length;
  }
  EXPECT_EQ(channel(0), Bytes(kPitch * 16, 77));
  image.pitch[2] = kWidth - 1;
  EXPECT_EQ(
      decode(colours, STANDJPEG_OUTPUT_RGB),
      STANDJPEG_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(channel(0), Bytes(kPitch * 16, 77));
}

TEST_F(Jpeg, NullsAreRefused) {
  const auto invalid = STANDJPEG_STATUS_INVALID_PARAMETER;
  int none = 0;
  auto subsampling = STANDJPEG_CSS_UNKNOWN;
  EXPECT_EQ(standjpegCreateSimple(nullptr), invalid);
  EXPECT_EQ(
      standjpegCreate(STANDJPEG_BACKEND_DEFAULT, &none, &handle), invalid);
  EXPECT_EQ(standjpegDestroy(nullptr), invalid);
  EXPECT_EQ(standjpegJpegStateCreate(handle, nullptr), invalid);
  EXPECT_EQ(standjpegJpegStateCreate(nullptr, &state), invalid);
  EXPECT_EQ(standjpegJpegStateDestroy(nullptr), invalid);
  EXPECT_EQ(
      standjpegGetImageInfo(
          handle, nullptr, 9, &none, &subsampling, &none, &none),
      invalid);
  EXPECT_EQ(
      standjpegDecode(
          handle,
          state,
          colours.data(),
          colours.size(),
          STANDJPEG_OUTPUT_RGB,
          nullptr,
          stream),
      invalid);
  EXPECT_EQ(decode(colours, static_cast<standjpegOutputFormat_t>(7)), invalid);
  image.channel[1] = nullptr;
  EXPECT_EQ(decode(colours, STANDJPEG_OUTPUT_RGB), invalid);
}

// Changed at random, an image is decoded or refused; nothing else happens.
TEST_F(Jpeg, DamagedImagesAreSurvived) {
  std::mt19937 random(5);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    Bytes damaged = colours;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      damaged[below(damaged.size())] = static_cast<std::uint8_t>(random());
    }
    damaged.resize(damaged.size() - below(3) * below(9));
    // Of a size that the planes here have no room for, none is looked at.
    int count = 0;
    auto subsampling = STANDJPEG_CSS_UNKNOWN;
    int widths[STANDJPEG_MAX_COMPONENT] = {};
    int heights[STANDJPEG_MAX_COMPONENT] = {};
    const auto info = standjpegGetImageInfo(
        handle,
        damaged.data(),
        damaged.size(),
        &count,
        &subsampling,
        widths,
        heights);
    if (info == STANDJPEG_STATUS_SUCCESS &&
        (widths[0] > static_cast<int>(kPitch) || heights[0] > 16)) {
      continue;
    }
    const auto status = decode(damaged, STANDJPEG_OUTPUT_RGB);
    refused += status != STANDJPEG_STATUS_SUCCESS;
    EXPECT_TRUE(
        status == STANDJPEG_STATUS_SUCCESS ||
        status == STANDJPEG_STATUS_BAD_JPEG ||
        status == STANDJPEG_STATUS_JPEG_NOT_SUPPORTED ||
        status == STANDJPEG_STATUS_INCOMPLETE_BITSTREAM)
        << status;
  }
  EXPECT_GT(refused, 300);
  EXPECT_EQ(decode(colours, STANDJPEG_OUTPUT_RGB), STANDJPEG_STATUS_SUCCESS);
}

} // namespace
