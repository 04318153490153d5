// Random kernels, interpreted and as native code: what they leave in memory,
// their counts and their faults have to be the same.
//
// CUDASIM_FUZZ_SEED and CUDASIM_FUZZ_KERNELS choose others, and more.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/random_kernel.h"
#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/translation/regions.h"

namespace cudasim::engine::testing {
namespace {

/// What the lanes' values are: all alike, rising, at the edges, any.
std::vector<std::uint64_t> inputs(std::mt19937_64& random) {
  static constexpr std::uint64_t kEdges[] = {
      0,
      1,
      2,
      31,
      32,
      64,
      0x7f800000,
      0xff800000,
      0x7fc00000,
      0x80000000,
      0x7fffffff,
      0xffffffff,
      0x3f800000,
      0xffffffff00000000,
      0x7ff0000000000000,
      0xfff0000000000000,
      0x8000000000000000,
      0x7fffffffffffffff,
      0xffffffffffffffff,
      0x3ff0000000000000,
      0xffffffe0,
      0xfff0,
      0xffc0,
      0xef7bdef7bdef7bdf,
      0x1084210842108421};
  std::vector<std::uint64_t> words;
  for (unsigned column = 0; column < kInputs; ++column) {
    const auto kind = random() % 7;
    const std::uint64_t base = random() % 2 == 0
        ? kEdges[random() % std::size(kEdges)]
        : random() >> random() % 64;
    const std::uint64_t stride = random() % 4 == 0
        ? kEdges[random() % std::size(kEdges)]
        : random() % 3 == 0 ? std::uint64_t{1} << random() % 64
                            : random() % 9 - 4;
    const std::uint64_t row = random() % 200 * 4;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      words.push_back(
          kind == 0       ? base
              : kind <= 2 ? base + stride * i
              : kind == 3 ? kEdges[random() % std::size(kEdges)]
              : kind == 4 ? random() >> random() % 64
              : kind == 5 ? base + stride * (i / 32)
                          : base + stride * (i % 16) + row * (i / 16));
    }
  }
  return words;
}

struct Launch {
  unsigned threads = kLanes;
  std::uint32_t n = 0;
  std::vector<std::uint64_t> input;
};

struct Result {
  Outcome outcome;
  std::vector<std::uint8_t> bytes;
};

std::vector<Result> run(
    NativeMode mode,
    const std::string& text,
    const std::vector<Launch>& launches) {
  set_native_mode(mode);
  TestDevice device;
  device.load(text);
  std::vector<Result> results;
  for (const Launch& launch : launches) {
    auto* in = device.copy_of(launch.input);
    auto* out = device.zeros<std::uint8_t>(kDump + kPlaces);
    Shape shape;
    shape.block = {launch.threads, 1, 1};
    Result result;
    result.outcome = device.run("kernel", shape, out, in, launch.n);
    result.bytes.assign(out, out + kDump + kPlaces);
    results.push_back(std::move(result));
  }
  set_native_mode(NativeMode::kOff);
  return results;
}

TEST(RandomKernels, AreTheSameInBothModes) {
  const unsigned first = fuzz_setting("CUDASIM_FUZZ_SEED", 1);
  const unsigned count = fuzz_setting("CUDASIM_FUZZ_KERNELS", 10);
  const std::uint64_t before = native_regions();
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const bool faults = seed % 8 == 0;
    const std::string text = random_kernel(seed, faults);
    std::vector<Launch> launches;
    const unsigned sizes[] = {32, 64, 96, 48, 64};
    for (const unsigned threads : sizes) {
      launches.push_back(
          {faults ? 32 : threads,
           static_cast<std::uint32_t>(random() % 5),
           inputs(random)});
    }
    const auto plain = run(NativeMode::kOff, text, launches);
    const auto native = run(NativeMode::kAlways, text, launches);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Outcome& a = plain[i].outcome;
      const Outcome& b = native[i].outcome;
      const std::string where =
          "seed " + std::to_string(seed) + ", launch " + std::to_string(i);
      EXPECT_EQ(a.fault, b.fault) << where << a.report << b.report;
      EXPECT_EQ(a.fault == FaultKind::kNone, !faults) << where << a.report;
      if (a.late_releases + b.late_releases == 0) {
        EXPECT_EQ(a.warp_instructions, b.warp_instructions) << where;
        EXPECT_EQ(a.thread_instructions, b.thread_instructions) << where;
      } else if (faults) {
        continue; // lanes that went on alone may have ended the others
      }
      for (std::size_t at = 0; at < plain[i].bytes.size(); ++at) {
        if (plain[i].bytes[at] != native[i].bytes[at]) {
          ADD_FAILURE() << where << ": byte " << at
                        << (at < kDump ? ", of a register" : "")
                        << (at < kDump ? at / 8 / kThreads : 0) << ", thread "
                        << (at < kDump ? at / 8 % kThreads : 0) << '\n'
                        << text;
          break;
        }
      }
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
  }
  EXPECT_GT(native_regions(), before);
  EXPECT_EQ(refused_native_regions(), 0u);
}

} // namespace
} // namespace cudasim::engine::testing
