// Copies: one to three dimensions, all directions, sizes, pitches.
#include <random>
#include <tuple>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Copies = Device;

/// What a copy does, one byte after the other.
void reference(
    std::vector<unsigned char>& to,
    uint64_t to_offset,
    const std::vector<unsigned char>& from,
    uint64_t from_offset,
    const accel_copy& copy) {
  for (uint64_t z = 0; z < copy.depth; ++z)
    for (uint64_t y = 0; y < copy.height; ++y)
      for (uint64_t x = 0; x < copy.width; ++x)
        to[to_offset + z * copy.to_slice + y * copy.to_pitch + x] =
            from[from_offset + z * copy.from_slice + y * copy.from_pitch + x];
}

/// Bytes that lie on the host or on a device.
class Place {
 public:
  Place(accel_stream stream, int32_t device, std::vector<unsigned char> content)
      : stream_(stream), device_(device), host_(std::move(content)) {
    if (device == ACCEL_HOST)
      return;
    memory_.emplace_back(api(), device, host_.size());
    write(stream, memory_[0], host_);
  }
  unsigned char* at(uint64_t offset) {
    return (memory_.empty()
                ? host_.data()
                : reinterpret_cast<unsigned char*>(memory_[0].get())) +
        offset;
  }
  int32_t device() const {
    return device_;
  }
  /// Once work is done.
  std::vector<unsigned char> content() {
    return memory_.empty() ? host_ : read(stream_, memory_[0]);
  }

 private:
  accel_stream stream_;
  int32_t device_;
  std::vector<unsigned char> host_;
  std::vector<Memory> memory_;
};

/// All pairs of the host and the first two devices.
std::vector<std::pair<int32_t, int32_t>> directions() {
  std::vector<int32_t> places = {ACCEL_HOST, 0};
  if (devices() > 1)
    places.push_back(1);
  std::vector<std::pair<int32_t, int32_t>> all;
  for (int32_t to : places)
    for (int32_t from : places)
      all.emplace_back(to, from);
  return all;
}

/// Copies between two places of some size, and compares with the reference.
void try_copy(
    accel_stream stream,
    accel_copy copy,
    uint64_t to_size,
    uint64_t to_offset,
    uint64_t from_size,
    uint64_t from_offset) {
  for (const auto& [to_device, from_device] : directions()) {
    auto expected = bytes(to_size, 1);
    const auto source = bytes(from_size, 2);
    Place to(stream, to_device, expected), from(stream, from_device, source);
    copy.to_device = to_device;
    copy.from_device = from_device;
    copy.to = to.at(to_offset);
    copy.from = from.at(from_offset);
    reference(expected, to_offset, source, from_offset, copy);
    ASSERT_OK(api().copy(stream, &copy));
    ASSERT_OK(api().stream_synchronize(stream));
    EXPECT_EQ(to.content(), expected)
        << copy.width << "x" << copy.height << "x" << copy.depth << " to "
        << to_device << " from " << from_device;
    EXPECT_EQ(from.content(), source) << "the source was changed";
  }
}

TEST_F(Copies, OfOneRow) {
  for (uint64_t size : {1, 2, 3, 7, 8, 64, 255, 1000, 4097, 70001})
    for (uint64_t offset : {0, 1, 13}) {
      const accel_copy copy = row(nullptr, 0, nullptr, 0, size);
      try_copy(stream, copy, size + 20, offset, size + 20, 20 - offset);
    }
}

TEST_F(Copies, OfALargeRow) {
  const uint64_t size = (3 << 20) + 3;
  NEEDS_MEMORY(0, 2 * size);
  try_copy(stream, row(nullptr, 0, nullptr, 0, size), size, 0, size, 0);
}

TEST_F(Copies, OfRowsAndSlices) {
  for (const auto& [width, height, depth] :
       {std::tuple(1, 1, 1),
        std::tuple(1, 7, 1),
        std::tuple(5, 1, 3),
        std::tuple(16, 4, 4),
        std::tuple(33, 9, 5)})
    for (uint64_t gap : {0, 1, 31}) {
      accel_copy copy = row(nullptr, 0, nullptr, 0, width);
      copy.height = height;
      copy.depth = depth;
      copy.to_pitch = width + gap;
      copy.from_pitch = width + 2 * gap;
      copy.to_slice = copy.to_pitch * (height + 2);
      copy.from_slice = copy.from_pitch * height + gap;
      try_copy(
          stream,
          copy,
          copy.to_slice * depth + 8,
          3,
          copy.from_slice * depth + 8,
          5);
    }
}

// Pitches and slices of boxes with one row or one slice mean nothing.
TEST_F(Copies, IgnoreAPitchThatIsNotUsed) {
  accel_copy copy = row(nullptr, 0, nullptr, 0, 100);
  copy.to_pitch = copy.from_slice = UINT64_MAX / 2;
  copy.to_slice = copy.from_pitch = 0;
  try_copy(stream, copy, 100, 0, 100, 0);
}

// A source whose rows overlap is read several times.
TEST_F(Copies, FromRowsThatOverlap) {
  for (uint64_t pitch : {0, 1, 6}) {
    accel_copy copy = row(nullptr, 0, nullptr, 0, 10);
    copy.height = 6;
    copy.depth = 2;
    copy.from_pitch = pitch;
    copy.from_slice = 1;
    copy.to_pitch = 12;
    copy.to_slice = 100;
    try_copy(stream, copy, 200, 0, 100, 0);
  }
}

// What overlaps at the destination is copied in any order: each byte is one of
// those that were copied there.
TEST_F(Copies, ToRowsThatOverlap) {
  Memory to(api(), 0, 64);
  write(stream, to, std::vector<unsigned char>(64, 0));
  const auto source = bytes(64);
  accel_copy copy = row(to.get(), 0, source.data(), ACCEL_HOST, 8);
  copy.height = 4;
  copy.from_pitch = 8;
  copy.to_pitch = 4;
  ASSERT_OK(api().copy(stream, &copy));
  ASSERT_OK(api().stream_synchronize(stream));
  const auto found = read(stream, to);
  for (uint64_t i = 0; i < 64; ++i) {
    bool one = i >= 20 && found[i] == 0;
    for (uint64_t y = 0; y < 4; ++y)
      one = one ||
          (i >= y * 4 && i < y * 4 + 8 &&
           found[i] == source[y * 8 + i - y * 4]);
    EXPECT_TRUE(one) << "byte " << i;
  }
}

TEST_F(Copies, OntoItself) {
  Memory memory(api(), 0, 1000);
  const auto wanted = bytes(1000);
  write(stream, memory, wanted);
  const accel_copy copy = row(memory.get(), 0, memory.get(), 0, 1000);
  ASSERT_OK(api().copy(stream, &copy));
  EXPECT_EQ(read(stream, memory), wanted);
}

// The stream is one of either device.
TEST_F(Copies, BetweenDevicesInStreamsOfBoth) {
  NEEDS_DEVICES(2);
  Stream other(api(), 1);
  Memory first(api(), 0, 10000), second(api(), 1, 10000);
  const auto wanted = bytes(10000, 5), later = bytes(10000, 6);
  write(stream, first, wanted);
  accel_copy copy = row(second.get(), 1, first.get(), 0, 10000);
  ASSERT_OK(api().copy(stream, &copy));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(read(other, second), wanted);
  write(stream, first, later);
  ASSERT_OK(api().copy(other, &copy));
  ASSERT_OK(api().stream_synchronize(other));
  EXPECT_EQ(read(other, second), later);
}

TEST_F(Copies, OfRandomBoxes) {
  std::mt19937 random(20);
  auto number = [&](uint64_t least, uint64_t most) {
    return std::uniform_int_distribution<uint64_t>(least, most)(random);
  };
  for (int i = 0; i < 100; ++i) {
    accel_copy copy = row(nullptr, 0, nullptr, 0, number(1, 70));
    copy.height = number(1, 6);
    copy.depth = number(1, 4);
    copy.to_pitch = copy.width + number(0, 9);
    copy.from_pitch = number(0, 80);
    copy.to_slice = copy.to_pitch * copy.height + number(0, 9);
    copy.from_slice = number(0, 500);
    try_copy(
        stream,
        copy,
        copy.to_slice * copy.depth + 70,
        number(0, 69),
        copy.from_slice * copy.depth + copy.from_pitch * copy.height + 150,
        number(0, 69));
  }
}

// The struct is read before the function returns.
TEST_F(Copies, ReadTheirArgumentsAtOnce) {
  Gate gate;
  Memory memory(api(), 0, 100);
  const auto wanted = bytes(100);
  gate.close(stream);
  {
    accel_copy copy = row(memory.get(), 0, wanted.data(), ACCEL_HOST, 100);
    ASSERT_OK(api().copy(stream, &copy));
    copy = row(nullptr, 77, nullptr, 77, 0);
  }
  gate.open();
  EXPECT_EQ(read(stream, memory), wanted);
}

} // namespace
} // namespace accelerator::conformance
