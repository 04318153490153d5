// Philox4x32-10, whose lanes are its subsequences, and take four numbers of a
// kind at a time. Source: J. Salmon and others, "Parallel random numbers: as
// easy as 1, 2, 3" (2011).
#include <array>
#include <vector>

#include "runtime/libraries/rand/draws.h"
#include "runtime/libraries/rand/poisson.h"
#include "runtime/libraries/rand/sequence.h"

namespace accelerator::rand {
namespace {

constexpr std::size_t kPhiloxLanes = 65536;
constexpr std::size_t kWidth = 4;

using Block = std::array<std::uint32_t, kWidth>;

Block philox(std::uint64_t row, std::uint64_t lane, std::uint64_t seed) {
  Block counter = {
      static_cast<std::uint32_t>(row),
      static_cast<std::uint32_t>(row >> 32),
      static_cast<std::uint32_t>(lane),
      static_cast<std::uint32_t>(lane >> 32)};
  std::array<std::uint32_t, 2> key = {
      static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53U} * counter[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57U} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0],
        static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1],
        static_cast<std::uint32_t>(a)};
    key[0] += 0x9e3779b9U;
    key[1] += 0xbb67ae85U;
  }
  return counter;
}

std::array<float, kWidth> normals(const Block& block) {
  const auto [x, y, z, w] = block;
  const auto a = box_muller(to_uniform(x), to_uniform(y));
  const auto b = box_muller(to_uniform(z), to_uniform(w));
  return {a[0], a[1], b[0], b[1]};
}

class Philox : public Sequence {
 public:
  explicit Philox(const Settings& settings)
      : seed_(settings.seed),
        rows_(kPhiloxLanes, settings.position / (kPhiloxLanes * kWidth)),
        next_(settings.position % (kPhiloxLanes * kWidth)) {
    for (std::size_t lane = 0; lane < next_ / kWidth; ++lane) {
      ++rows_[lane];
    }
  }

  using Sequence::bits;
  void bits(std::uint32_t* out, std::size_t count) override {
    deal<1>(out, count, [](const std::array<Block, 1>& blocks) {
      return blocks[0];
    });
  }
  void uniform(float* out, std::size_t count) override {
    deal<1>(out, count, [](const std::array<Block, 1>& blocks) {
      std::array<float, kWidth> values{};
      for (std::size_t i = 0; i < kWidth; ++i) {
        values[i] = to_uniform(blocks[0][i]);
      }
      return values;
    });
  }
  void uniform(double* out, std::size_t count) override {
    deal<2>(out, count, [](const std::array<Block, 2>& blocks) {
      std::array<double, kWidth> values{};
      for (std::size_t i = 0; i < kWidth; ++i) {
        const Block& block = blocks[i / 2];
        values[i] = to_uniform(block[i % 2 * 2], block[i % 2 * 2 + 1]);
      }
      return values;
    });
  }
  void normal(float* out, std::size_t count) override {
    deal<1>(out, count, [](const std::array<Block, 1>& blocks) {
      return normals(blocks[0]);
    });
  }
  void normal(double* out, std::size_t count) override {
    deal<2>(out, count, [](const std::array<Block, 2>& blocks) {
      std::array<double, kWidth> values{};
      for (std::size_t i = 0; i < 2; ++i) {
        const auto [x, y, z, w] = blocks[i];
        const auto pair = box_muller(to_uniform(x, y), to_uniform(z, w));
        values[2 * i] = pair[0];
        values[2 * i + 1] = pair[1];
      }
      return values;
    });
  }
  void poisson(
      const Poisson& distribution,
      std::uint32_t* out,
      std::size_t count) override {
    deal<1>(out, count, [&](const std::array<Block, 1>& blocks) {
      Block values{};
      if (distribution.lambda() < Poisson::kLeastWithoutTable) {
        for (std::size_t i = 0; i < kWidth; ++i) {
          values[i] = distribution.aliased(to_middle(blocks[0][i]));
        }
        return values;
      }
      const auto normal = normals(blocks[0]);
      for (std::size_t i = 0; i < kWidth; ++i) {
        values[i] = distribution.rounded(normal[i]);
      }
      return values;
    });
  }

 private:
  /// @param draw makes four numbers of some blocks.
  template <std::size_t kBlocks, typename T, typename Draw>
  void deal(T* out, std::size_t count, Draw draw) {
    for (std::size_t i = 0; i < count;) {
      const std::size_t lane = next_ / kWidth;
      std::array<Block, kBlocks> blocks{};
      for (std::size_t k = 0; k < kBlocks; ++k) {
        blocks[k] = philox(rows_[lane] + k, lane, seed_);
      }
      const auto values = draw(blocks);
      std::size_t part = next_ % kWidth;
      for (; part < kWidth && i < count; ++part, ++i) {
        out[i] = values[part];
      }
      next_ = lane * kWidth + part;
      // A lane goes on when all four are taken.
      if (part == kWidth) {
        rows_[lane] += kBlocks;
        next_ %= kPhiloxLanes * kWidth;
      }
    }
  }

  std::uint64_t seed_;
  std::vector<std::uint64_t> rows_;
  std::size_t next_;
};

} // namespace

std::unique_ptr<Sequence> make_philox(const Settings& settings) {
  return std::make_unique<Philox>(settings);
}

} // namespace accelerator::rand
