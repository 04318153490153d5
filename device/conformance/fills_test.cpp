// Fills: elements of 1, 2 and 4 bytes, one to three dimensions.
#include <cstring>
#include <tuple>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Fills = Device;

void reference(
    std::vector<unsigned char>& to,
    uint64_t offset,
    const accel_fill& fill) {
  for (uint64_t z = 0; z < fill.depth; ++z)
    for (uint64_t y = 0; y < fill.height; ++y)
      for (uint64_t x = 0; x < fill.width; ++x)
        for (uint32_t i = 0; i < fill.element_size; ++i)
          to[offset + z * fill.slice + y * fill.pitch + x * fill.element_size +
             i] = static_cast<unsigned char>(fill.value >> (8 * i));
}

void try_fill(
    accel_stream stream,
    accel_fill fill,
    uint64_t size,
    uint64_t offset) {
  Memory memory(api(), 0, size);
  auto expected = bytes(size);
  write(stream, memory, expected);
  fill.to = memory.get() + offset;
  reference(expected, offset, fill);
  ASSERT_OK(api().fill(stream, &fill));
  EXPECT_EQ(read(stream, memory), expected)
      << fill.width << "x" << fill.height << "x" << fill.depth << " of "
      << fill.element_size;
}

TEST_F(Fills, OfOneRow) {
  for (uint32_t size : {1, 2, 4})
    for (uint64_t width : {1, 2, 3, 17, 1000, 30001})
      for (uint64_t offset : {0, 1, 5})
        try_fill(
            stream,
            elements(nullptr, 0x89abcdef, size, width),
            (width + 10) * size,
            offset * size);
}

TEST_F(Fills, OfRowsAndSlices) {
  for (uint32_t size : {1, 2, 4})
    for (const auto& [width, height, depth] :
         {std::tuple(1, 1, 1),
          std::tuple(1, 5, 1),
          std::tuple(3, 1, 4),
          std::tuple(9, 4, 3)})
      for (uint64_t gap : {0, 1, 7}) {
        accel_fill fill = elements(nullptr, 0x10203040, size, width);
        fill.height = height;
        fill.depth = depth;
        fill.pitch = (width + gap) * size;
        fill.slice = fill.pitch * height + gap * size;
        try_fill(stream, fill, fill.slice * depth + 64, uint64_t{4} * size);
      }
}

// Rows that overlap get one value.
TEST_F(Fills, OfRowsThatOverlap) {
  accel_fill fill = elements(nullptr, 0x0a0b, 2, 8);
  fill.height = 5;
  fill.pitch = 4;
  try_fill(stream, fill, 200, 2);
}

TEST_F(Fills, AreOrderedWithCopies) {
  Memory memory(api(), 0, 1000);
  std::vector<unsigned char> first(1000), second(1000);
  const accel_fill one = elements(memory.get(), 1, 1, 1000);
  const accel_fill two = elements(memory.get() + 500, 2, 1, 100);
  const accel_copy early = row(first.data(), ACCEL_HOST, memory.get(), 0, 1000);
  const accel_copy late = row(second.data(), ACCEL_HOST, memory.get(), 0, 1000);
  ASSERT_OK(api().fill(stream, &one));
  ASSERT_OK(api().copy(stream, &early));
  ASSERT_OK(api().fill(stream, &two));
  ASSERT_OK(api().copy(stream, &late));
  ASSERT_OK(api().stream_synchronize(stream));
  std::vector<unsigned char> expected(1000, 1);
  EXPECT_EQ(first, expected);
  std::memset(expected.data() + 500, 2, 100);
  EXPECT_EQ(second, expected);
}

TEST_F(Fills, OnEachDevice) {
  for (int32_t device = 0; device < devices(); ++device) {
    Stream own(api(), device);
    Memory memory(api(), device, 4000);
    const accel_fill fill = elements(memory.get(), 0x01020304, 4, 1000);
    ASSERT_OK(api().fill(own, &fill));
    std::vector<unsigned char> expected(4000);
    for (size_t i = 0; i < 4000; ++i)
      expected[i] = static_cast<unsigned char>(4 - i % 4);
    EXPECT_EQ(read(own, memory), expected);
  }
}

} // namespace
} // namespace accelerator::conformance
