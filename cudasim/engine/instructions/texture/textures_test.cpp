// tex, tld4 and txq on random textures, against the formulas of the CUDA
// programming guide (testing/texture_reference.h).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/instructions/texture/testing/texture_kernel.h"
#include "cudasim/engine/instructions/texture/testing/texture_model.h"
#include "cudasim/engine/instructions/texture/testing/texture_reference.h"
#include "cudasim/engine/testing/coverage_record.h"

namespace cudasim::engine::testing {
namespace {

constexpr int kPoints = 96;

/// A geometry as instructions name it.
struct Shaped {
  const char* name;
  int dimensions;
  bool layered;
  bool cubemap;

  int coordinates() const {
    return cubemap ? 3 : dimensions;
  }
  TextureWish wish(unsigned levels, bool floats) const {
    return {dimensions, layered, cubemap, levels, floats};
  }
};

const std::vector<Shaped>& shapes() {
  static const std::vector<Shaped> all = {
      {"1d", 1, false, false},
      {"2d", 2, false, false},
      {"3d", 3, false, false},
      {"a1d", 1, true, false},
      {"a2d", 2, true, false},
      {"cube", 2, false, true},
      {"acube", 2, true, true}};
  return all;
}

/// "{%i4, %i5}", as PTX wants a vector of so many: three have four.
std::string vector_at(int first, int count) {
  std::string text;
  for (int i = 0; i < (count == 3 ? 4 : count); ++i) {
    text += (text.empty() ? "{%i" : ", %i") +
        std::to_string(first + std::min(i, count - 1));
  }
  return text + "}";
}

/// The layer is in %i0, coordinates are from %i1 on.
std::string object_of(const Shaped& shape) {
  if (!shape.layered) {
    return "[%t, " + vector_at(1, shape.coordinates()) + "]";
  }
  return "[%t, " + vector_at(0, shape.coordinates() + 1) + "]";
}

/// Results in %d or %h, and code that brings the latter into %d.
struct Results {
  const char* type; // of the key
  const char* registers;
  const char* behind;
  int halves; // 0: words; 1: a half in each register; 2: two
};

const std::vector<Results>& results() {
  static const std::vector<Results> all = {
      {"v4.u32", "{%d0, %d1, %d2, %d3}", "", 0},
      {"v4.s32", "{%d0, %d1, %d2, %d3}", "", 0},
      {"v4.f32", "{%d0, %d1, %d2, %d3}", "", 0},
      {"v4.f16",
       "{%h0, %h1, %h2, %h3}",
       "cvt.u32.u16 %d0, %h0;\ncvt.u32.u16 %d1, %h1;\n"
       "cvt.u32.u16 %d2, %h2;\ncvt.u32.u16 %d3, %h3;\n",
       1},
      {"v2.f16x2", "{%d0, %d1}", "", 2}};
  return all;
}

std::uint32_t half_bits(std::uint32_t word) {
  const auto half = static_cast<_Float16>(number_of(word));
  std::uint16_t bits = 0;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

/// Expected words as an instruction's type has them.
Words as_results(const Results& kind, const Words& words) {
  if (kind.halves == 0) {
    return words;
  }
  Words halves{};
  for (std::size_t k = 0; k < 4; ++k) {
    halves[k] = half_bits(words[k]);
  }
  return kind.halves == 1 ? halves
                          : Words{
                                halves[0] | halves[1] << 16,
                                halves[2] | halves[3] << 16,
                                kBefore,
                                kBefore};
}

bool is_close(std::uint32_t is, std::uint32_t expected) {
  const double a = number_of(is);
  const double b = number_of(expected);
  return is == expected || std::fabs(a - b) <= 2e-6 + 4e-7 * std::fabs(b);
}

/// The same of halves, which are rounded once more.
bool are_close_halves(std::uint32_t is, std::uint32_t expected) {
  const auto number = [](std::uint32_t word, int shift) {
    const auto bits = static_cast<std::uint16_t>(word >> shift);
    _Float16 half;
    std::memcpy(&half, &bits, sizeof(half));
    return static_cast<double>(half);
  };
  const auto near = [&](int shift) {
    const double a = number(is, shift);
    const double b = number(expected, shift);
    return std::fabs(a - b) <= 2e-6 + std::fabs(b) / 1024;
  };
  return is == expected || (near(0) && near(16));
}

class Textures : public ::testing::Test {
 protected:
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(random_() % count);
  }
  float between(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random_);
  }

  /// A coordinate inside, at edges and outside.
  float coordinate(const TextureModel& model, int axis) {
    if (model.texture.cubemap) {
      return between(-1, 1);
    }
    const TextureLevel& level = model.texture.levels[0];
    const auto extent = static_cast<float>(
        axis == 0       ? level.width
            : axis == 1 ? level.height
                        : level.depth);
    const float at = below(3) == 0
        ? static_cast<float>(static_cast<int>(below(64)) - 24) / 4
        : between(-2.5f * extent, 3.5f * extent);
    return model.texture.normalized_coordinates ? at / extent : at;
  }

  ThreadInput draw(
      const TextureModel& model,
      const Shaped& shape,
      ReferencePoint& point) {
    ThreadInput input;
    point.layer = below(5) == 0 ? 0xffffffffu : below(4);
    input.words[0] = point.layer;
    for (int i = 0; i < shape.coordinates(); ++i) {
      point.at[i] = coordinate(model, i);
      input.words[1 + static_cast<std::size_t>(i)] = word_of(point.at[i]);
    }
    return input;
  }

  void compare(
      const std::string& key,
      const Results& kind,
      bool floats,
      const std::vector<ThreadOutput>& is,
      const std::vector<Words>& expected,
      bool resident) {
    for (std::size_t i = 0; i < is.size(); ++i) {
      const bool idle = i == kIdleThread;
      const Words words = as_results(kind, expected[i]);
      for (std::size_t k = 0; k < 4; ++k) {
        if (idle) {
          const std::uint32_t before =
              kind.halves == 1 ? kBefore & 0xffff : kBefore;
          EXPECT_EQ(is[i].words[k], before) << key;
          continue;
        }
        const bool good = kind.halves != 0 && floats
            ? are_close_halves(is[i].words[k], words[k])
            : floats ? is_close(is[i].words[k], words[k])
                     : is[i].words[k] == words[k];
        ASSERT_TRUE(good) << key << ", thread " << i << ", channel " << k
                          << ": " << is[i].words[k] << " ("
                          << number_of(is[i].words[k]) << "), not " << words[k]
                          << " (" << number_of(words[k]) << ")";
      }
      EXPECT_EQ(is[i].predicate, resident && !idle ? 1u : 0u) << key;
    }
  }

  void check_sampling(
      const Shaped& shape,
      const Results& kind,
      const std::string& mode,
      bool floats) {
    const bool level = mode == ".level";
    const bool gradient = mode == ".grad";
    const unsigned levels = level || gradient ? 3 : 1 + 2 * below(2);
    TextureModel model(device_, shape.wish(levels, floats), seed_++);
    const std::uint64_t handle = device_.textures().add(model.texture);
    const TextureReference reference(model);
    std::vector<ThreadInput> inputs;
    std::vector<Words> expected;
    const bool shifted = !shape.cubemap && below(2) == 0;
    for (int n = 0; n < kPoints; ++n) {
      ReferencePoint point;
      ThreadInput input = draw(model, shape, point);
      input.handle = handle;
      float detail = -1000;
      if (level) {
        detail = between(-1, 4);
        input.words[4] = word_of(detail);
      } else if (gradient) {
        detail = draw_gradient(model, shape, point, input);
      }
      for (int i = 0; i < shape.dimensions && shifted; ++i) {
        point.offset[i] = static_cast<int>(below(16)) - 8;
        input.words[12 + static_cast<std::size_t>(i)] =
            static_cast<std::uint32_t>(point.offset[i]);
      }
      inputs.push_back(input);
      expected.push_back(reference.sample(point, detail));
    }
    const std::string key =
        "tex" + mode + "." + shape.name + "." + kind.type + ".f32";
    const bool resident = below(2) == 0;
    const std::string code = "@%q " + key + " " + kind.registers +
        (resident ? "|%p, " : ", ") + object_of(shape) +
        (level          ? ", %i4"
             : gradient ? ", " + vector_at(4, shape.coordinates()) + ", " +
                 vector_at(8, shape.coordinates())
                        : "") +
        (shifted ? ", " + vector_at(12, shape.dimensions) : "") + ";\n" +
        kind.behind;
    compare(
        key,
        kind,
        floats,
        run_texture_kernel(device_, code, inputs),
        expected,
        resident);
    record_checked(key);
  }

  /// Partial derivatives of which one matters, along one axis. Its level is
  /// their binary logarithm in elements.
  float draw_gradient(
      const TextureModel& model,
      const Shaped& shape,
      ReferencePoint& point,
      ThreadInput& input) {
    constexpr float kSteps[] = {0.5f, 1, 1.5f, 2, 3, 4, 6, 16};
    const float step = kSteps[below(8)];
    const std::size_t faster = below(2) == 0 ? 4 : 8;
    const TextureLevel& its = model.texture.levels[0];
    if (shape.cubemap) {
      // Along x where z is the greatest, which is 1 or -1: x moves over two
      // units from edge to edge.
      point.at[2] = below(2) == 0 ? 1.0f : -1.0f;
      input.words[3] = word_of(point.at[2]);
      input.words[faster] = word_of(2 * step / static_cast<float>(its.width));
      return std::log2(step);
    }
    const auto axis = below(static_cast<std::uint32_t>(shape.dimensions));
    const std::uint64_t extents[] = {its.width, its.height, its.depth};
    const float change = model.texture.normalized_coordinates
        ? step / static_cast<float>(extents[axis])
        : step;
    input.words[faster + axis] = word_of(change);
    input.words[12 - faster + axis] = word_of(change / 4);
    return std::log2(step);
  }

  TestDevice device_;
  std::mt19937 random_{2024};
  unsigned seed_ = 1;
};

TEST_F(Textures, AreSampled) {
  for (const std::string mode : {"", ".base", ".level", ".grad"}) {
    for (const Shaped& shape : shapes()) {
      for (const Results& kind : results()) {
        for (int repeat = 0; repeat < 8; ++repeat) {
          const bool floats = kind.halves != 0 || repeat != 0;
          check_sampling(shape, kind, mode, floats);
          ASSERT_FALSE(HasFatalFailure());
        }
      }
    }
  }
}

TEST_F(Textures, AreFetchedByWholeCoordinates) {
  for (const std::string mode : {"", ".base"}) {
    for (const Shaped& shape : shapes()) {
      for (const Results& kind : results()) {
        if (shape.cubemap) {
          continue;
        }
        const bool floats = kind.halves != 0 || below(2) == 0;
        TextureModel model(device_, shape.wish(1, floats), seed_++);
        model.texture.linear =
            shape.dimensions == 1 && !shape.layered && below(2) == 0;
        const std::uint64_t handle = device_.textures().add(model.texture);
        const TextureReference reference(model);
        std::vector<ThreadInput> inputs;
        std::vector<Words> expected;
        for (int n = 0; n < kPoints; ++n) {
          ThreadInput input;
          input.handle = handle;
          int at[3] = {};
          input.words[0] = below(5);
          for (int i = 0; i < shape.dimensions; ++i) {
            at[i] = n % 9 == 0 ? std::numeric_limits<int>::min()
                               : static_cast<int>(below(11)) - 2;
            input.words[1 + static_cast<std::size_t>(i)] =
                static_cast<std::uint32_t>(at[i]);
          }
          inputs.push_back(input);
          expected.push_back(reference.fetch(at, input.words[0]));
        }
        const std::string key =
            "tex" + mode + "." + shape.name + "." + kind.type + ".s32";
        compare(
            key,
            kind,
            floats,
            run_texture_kernel(
                device_,
                "@%q " + key + " " + kind.registers + ", " + object_of(shape) +
                    ";\n" + kind.behind,
                inputs),
            expected,
            false);
        ASSERT_FALSE(HasFatalFailure());
        record_checked(key);
      }
    }
  }
}

TEST_F(Textures, AreGathered) {
  const std::string channels = "rgba";
  for (std::size_t channel = 0; channel < 4; ++channel) {
    for (const Shaped& shape : shapes()) {
      if (shape.dimensions != 2) {
        continue;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const Results& kind = results()[k];
        const bool floats = below(2) == 0;
        TextureModel model(device_, shape.wish(1, floats), seed_++);
        const std::uint64_t handle = device_.textures().add(model.texture);
        const TextureReference reference(model);
        std::vector<ThreadInput> inputs;
        std::vector<Words> expected;
        for (int n = 0; n < kPoints; ++n) {
          ReferencePoint point;
          inputs.push_back(draw(model, shape, point));
          inputs.back().handle = handle;
          expected.push_back(reference.gather(point, channel));
        }
        const std::string key = std::string("tld4.") + channels[channel] + "." +
            shape.name + "." + kind.type + ".f32";
        compare(
            key,
            kind,
            floats,
            run_texture_kernel(
                device_,
                "@%q " + key + " " + kind.registers + "|%p, " +
                    object_of(shape) + ";\n" + kind.behind,
                inputs),
            expected,
            true);
        ASSERT_FALSE(HasFatalFailure());
        record_checked(key);
      }
    }
  }
}

} // namespace
} // namespace cudasim::engine::testing
