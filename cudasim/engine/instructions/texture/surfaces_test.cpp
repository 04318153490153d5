// suld, sust and sured on surfaces of random bytes, against the same bytes on
// the host; suq and txq.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/instructions/texture/testing/texture_kernel.h"
#include "cudasim/engine/instructions/texture/testing/texture_model.h"
#include "cudasim/engine/testing/coverage_record.h"

namespace cudasim::engine::testing {
namespace {

constexpr std::size_t kThreads = 40;

struct SurfaceShape {
  const char* name;
  int dimensions;
  bool layered;
};
constexpr SurfaceShape kShapes[] = {
    {"1d", 1, false},
    {"2d", 2, false},
    {"3d", 3, false},
    {"a1d", 1, true},
    {"a2d", 2, true}};
constexpr const char* kBoundaries[] = {"trap", "clamp", "zero"};

/// Bytes of a surface, which are on the device, and the host's copy of them.
class SurfaceModel {
 public:
  SurfaceModel(
      TestDevice& device,
      const SurfaceShape& shape,
      std::uint32_t element_bytes,
      std::mt19937& random) {
    const auto below = [&](std::uint32_t count) {
      return static_cast<std::uint32_t>(random() % count);
    };
    surface.dimensions = static_cast<std::uint32_t>(shape.dimensions);
    surface.layered = shape.layered;
    surface.channel = Texture::Channel::kUnsigned;
    surface.channels = element_bytes >= 16 ? 4 : element_bytes >= 8 ? 2 : 1;
    surface.channel_bits = 8 * element_bytes / surface.channels;
    TextureLevel level;
    level.width = 3 + below(4);
    level.height = shape.dimensions > 1 ? 2 + below(4) : 1;
    level.depth = shape.dimensions > 2 || shape.layered ? 2 + below(3) : 1;
    level.pitch = level.width * element_bytes + 16 * (1 + below(2));
    level.pitch = (level.pitch + 15) / 16 * 16;
    level.slice = level.pitch * level.height + 16 * below(2);
    bytes.resize(level.slice * level.depth);
    for (unsigned char& byte : bytes) {
      byte = static_cast<unsigned char>(random());
    }
    memory = device.copy_of(bytes);
    level.address = reinterpret_cast<std::uint64_t>(memory);
    surface.levels.push_back(level);
    handle = device.textures().add(surface);
  }

  /// The first byte that coordinates name; -1: nothing is accessed.
  /// @param at x in units, y, and z or the layer.
  std::int64_t place(
      std::int64_t (&at)[3],
      std::uint32_t unit,
      std::uint32_t size,
      const std::string& boundary) const {
    const TextureLevel& level = surface.levels[0];
    const std::int64_t row =
        static_cast<std::int64_t>(level.width * surface.element_bytes());
    const std::int64_t most[3] = {
        (row - static_cast<std::int64_t>(size)) / unit,
        static_cast<std::int64_t>(level.height) - 1,
        static_cast<std::int64_t>(level.depth) - 1};
    for (int i = 0; i < 3; ++i) {
      if (at[i] >= 0 && at[i] <= most[i]) {
        continue;
      }
      if (boundary == "zero") {
        return -1;
      }
      at[i] = at[i] < 0 ? 0 : most[i];
    }
    return at[0] * unit + at[1] * static_cast<std::int64_t>(level.pitch) +
        at[2] * static_cast<std::int64_t>(level.slice);
  }

  Texture surface;
  std::uint64_t handle = 0;
  std::vector<unsigned char> bytes;
  unsigned char* memory = nullptr;
};

class Surfaces : public ::testing::Test {
 protected:
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(random_() % count);
  }

  /// Coordinates of a thread: in words 0 to 2, as PTX has them.
  ThreadInput draw(
      const SurfaceModel& model,
      const SurfaceShape& shape,
      std::uint32_t step,
      const std::string& boundary,
      std::int64_t (&at)[3]) {
    const TextureLevel& level = model.surface.levels[0];
    const bool inside = boundary == "trap";
    const std::uint64_t steps =
        level.width * model.surface.element_bytes() / step;
    const std::uint64_t extents[3] = {steps, level.height, level.depth};
    for (int i = 0; i < 3; ++i) {
      const bool is_layer = shape.layered && i == 2;
      const bool counts = i < shape.dimensions || is_layer;
      const auto extent = static_cast<std::uint32_t>(extents[i]);
      at[i] = !counts ? 0
          : inside    ? below(extent)
          : is_layer  ? below(extent + 2)
                      : static_cast<std::int64_t>(below(extent + 4)) - 2;
    }
    at[0] *= unit_ == 1 ? step : 1;
    ThreadInput input;
    input.handle = model.handle;
    std::size_t next = 0;
    if (shape.layered) {
      input.words[next++] = static_cast<std::uint32_t>(at[2]);
    }
    for (int i = 0; i < shape.dimensions; ++i) {
      input.words[next++] = static_cast<std::uint32_t>(at[i]);
    }
    for (std::size_t i = 4; i < 16; ++i) {
      input.words[i] = static_cast<std::uint32_t>(random_());
    }
    return input;
  }

  static std::string object_of(const SurfaceShape& shape) {
    const int count = shape.dimensions + (shape.layered ? 1 : 0);
    return count == 1 ? "[%t, {%i0}]"
        : count == 2  ? "[%t, {%i0, %i1}]"
                      : "[%t, {%i0, %i1, %i2, %i2}]";
  }

  /// The bytes of input words from word 4 on, each value in its own words.
  static void value_of(
      const ThreadInput& input,
      std::uint32_t size,
      std::uint32_t index,
      unsigned char* to) {
    std::memcpy(to, &input.words[4 + index * (size == 8 ? 2 : 1)], size);
  }

  TestDevice device_;
  std::mt19937 random_{7};
  std::uint32_t unit_ = 1; // what the first coordinate counts: bytes
};

/// Registers of a width: their names, and code from the words or to %d.
std::string list_of(const std::string& name, std::uint32_t count) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + name + std::to_string(i);
  }
  return text + "}";
}

TEST_F(Surfaces, AreLoaded) {
  for (const SurfaceShape& shape : kShapes) {
    for (const std::string boundary : kBoundaries) {
      for (const std::uint32_t size : {1u, 2u, 4u, 8u}) {
        for (const std::uint32_t count : {1u, 2u, 4u}) {
          if (size * count > 16) {
            continue;
          }
          const SurfaceModel model(device_, shape, size * count, random_);
          std::vector<ThreadInput> inputs;
          std::vector<std::vector<unsigned char>> expected;
          for (std::size_t i = 0; i < kThreads; ++i) {
            std::int64_t at[3] = {};
            inputs.push_back(draw(model, shape, size * count, boundary, at));
            const std::int64_t place =
                model.place(at, 1, size * count, boundary);
            std::vector<unsigned char> value(size * count);
            for (std::size_t k = 0; k < value.size() && place >= 0; ++k) {
              value[k] = model.bytes[static_cast<std::size_t>(place) + k];
            }
            expected.push_back(value);
          }
          const std::string key = "suld.b." + std::string(shape.name) +
              (count == 1 ? "" : ".v" + std::to_string(count)) + ".b" +
              std::to_string(8 * size) + "." + boundary;
          const std::string name = size == 8 ? "%w" : size == 4 ? "%d" : "%h";
          std::string code = "@%q " + key + " " + list_of(name, count) + ", " +
              object_of(shape) + ";\n";
          for (std::uint32_t k = 0; k < count && size != 4; ++k) {
            const std::string n = std::to_string(k);
            code += size == 8 ? "mov.b64 {%d" + std::to_string(2 * k) + ", %d" +
                    std::to_string(2 * k + 1) + "}, %w" + n + ";\n"
                              : "cvt.u32.u16 %d" + n + ", %h" + n + ";\n";
          }
          const auto is = run_texture_kernel(device_, code, inputs);
          for (std::size_t i = 0; i < is.size(); ++i) {
            if (i == kIdleThread) {
              continue;
            }
            for (std::uint32_t k = 0; k < count; ++k) {
              std::uint32_t words[2] = {};
              std::memcpy(words, expected[i].data() + k * size, size);
              const std::size_t first = size == 8 ? 2 * k : k;
              ASSERT_EQ(is[i].words[first], words[0]) << key << ", " << i;
              if (size == 8) {
                ASSERT_EQ(is[i].words[first + 1], words[1]) << key;
              }
            }
          }
          record_checked(key);
        }
      }
    }
  }
}

TEST_F(Surfaces, AreStoredTo) {
  for (const SurfaceShape& shape : kShapes) {
    for (const std::string boundary : kBoundaries) {
      for (const std::uint32_t size : {1u, 2u, 4u, 8u}) {
        for (const std::uint32_t count : {1u, 2u, 4u}) {
          if (size * count > 16) {
            continue;
          }
          // One thread at a time: of several that write the same place any may
          // be the last.
          SurfaceModel model(device_, shape, size * count, random_);
          std::string code;
          for (std::uint32_t k = 0; k < count && size != 4; ++k) {
            const std::string n = std::to_string(k);
            code += size == 8
                ? "mov.b64 %w" + n + ", {%i" + std::to_string(4 + 2 * k) +
                    ", %i" + std::to_string(5 + 2 * k) + "};\n"
                : "cvt.u16.u32 %h" + n + ", %i" + std::to_string(4 + k) + ";\n";
          }
          const std::string list = size == 4
              ? (count == 1       ? "{%i4}"
                     : count == 2 ? "{%i4, %i5}"
                                  : "{%i4, %i5, %i6, %i7}")
              : list_of(size == 8 ? "%w" : "%h", count);
          const std::string key = "sust.b." + std::string(shape.name) +
              (count == 1 ? "" : ".v" + std::to_string(count)) + ".b" +
              std::to_string(8 * size) + "." + boundary;
          code += key + " " + object_of(shape) + ", " + list + ";\n";
          for (int repeat = 0; repeat < 6; ++repeat) {
            std::int64_t at[3] = {};
            const ThreadInput input =
                draw(model, shape, size * count, boundary, at);
            const std::int64_t place =
                model.place(at, 1, size * count, boundary);
            for (std::uint32_t k = 0; k < count && place >= 0; ++k) {
              value_of(
                  input,
                  size,
                  k,
                  model.bytes.data() + place +
                      static_cast<std::int64_t>(k * size));
            }
            run_texture_kernel(device_, code, {input});
            ASSERT_TRUE(std::equal(
                model.bytes.begin(), model.bytes.end(), model.memory))
                << key;
          }
          record_checked(key);
        }
      }
    }
  }
}

/// A channel of a format from a register, by PTX ISA 9.7.10 (sust.p).
std::uint32_t stored_channel(const Texture& surface, std::uint32_t word) {
  if (surface.channel == Texture::Channel::kFloat) {
    if (surface.channel_bits == 32) {
      return word;
    }
    // Toward zero, as an RTX 3060 does it (pantheongpu/pantheonsim,
    // nvidia/docs/textures.md).
    auto half = static_cast<_Float16>(number_of(word));
    if (std::fabs(static_cast<float>(half)) > std::fabs(number_of(word))) {
      half = static_cast<_Float16>(std::nextafter(number_of(word), 0.0f));
      for (float at = number_of(word);
           std::fabs(static_cast<float>(half)) > std::fabs(number_of(word));) {
        half = static_cast<_Float16>(at -= at / 4096);
      }
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, &half, sizeof(bits));
    return bits;
  }
  const std::int64_t bits = surface.channel_bits;
  if (surface.channel == Texture::Channel::kUnsigned) {
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(word, (std::int64_t{1} << bits) - 1));
  }
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  const auto value = static_cast<std::int64_t>(static_cast<std::int32_t>(word));
  return static_cast<std::uint32_t>(
      value > most            ? most
          : value < -most - 1 ? -most - 1
                              : value);
}

TEST_F(Surfaces, AreStoredToInTheirFormat) {
  for (const SurfaceShape& shape : kShapes) {
    for (const std::string boundary : kBoundaries) {
      for (const std::uint32_t count : {1u, 2u, 4u}) {
        const std::string key = "sust.p." + std::string(shape.name) +
            (count == 1 ? "" : ".v" + std::to_string(count)) + ".b32." +
            boundary;
        for (int repeat = 0; repeat < 8; ++repeat) {
          SurfaceModel model(device_, shape, 4 * count, random_);
          model.surface.channels = count;
          model.surface.channel = static_cast<Texture::Channel>(below(3));
          model.surface.channel_bits =
              model.surface.channel == Texture::Channel::kFloat
              ? 16u << below(2)
              : 8u << below(3);
          model.handle = device_.textures().add(model.surface);
          const std::uint32_t bytes = model.surface.element_bytes();
          unit_ = bytes;
          std::int64_t at[3] = {};
          ThreadInput input = draw(model, shape, bytes, boundary, at);
          for (std::size_t k = 4; k < 8; ++k) {
            const auto number =
                static_cast<float>(static_cast<int>(below(4000)) - 2000) / 16;
            if (model.surface.channel == Texture::Channel::kFloat) {
              input.words[k] = word_of(number);
            } else if (below(2) == 0) {
              input.words[k] &= 0x7f;
            }
          }
          const std::int64_t place = model.place(at, bytes, bytes, boundary);
          for (std::uint32_t k = 0; k < count && place >= 0; ++k) {
            const std::uint32_t word =
                stored_channel(model.surface, input.words[4 + k]);
            std::memcpy(
                model.bytes.data() + place + k * bytes / count,
                &word,
                bytes / count);
          }
          run_texture_kernel(
              device_,
              key + " " + object_of(shape) + ", " +
                  (count == 1       ? "{%i4}"
                       : count == 2 ? "{%i4, %i5}"
                                    : "{%i4, %i5, %i6, %i7}") +
                  ";\n",
              {input});
          ASSERT_TRUE(
              std::equal(model.bytes.begin(), model.bytes.end(), model.memory))
              << key;
        }
        record_checked(key);
      }
    }
  }
}

template <typename T>
T reduced(const std::string& name, T a, T b) {
  return name == "add"
      ? static_cast<T>(
            static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b))
      : name == "min" ? (a < b ? a : b)
      : name == "max" ? (a < b ? b : a)
      : name == "and" ? (a & b)
                      : (a | b);
}

class Reductions : public Surfaces {
 protected:
  /// @param unit bytes that the first coordinate counts.
  template <typename T>
  void check(
      const std::string& name,
      const std::string& type,
      bool elements,
      Texture::Channel channel) {
    for (const SurfaceShape& shape : kShapes) {
      for (const std::string boundary : kBoundaries) {
        if (shape.layered) {
          continue;
        }
        const std::string key = std::string("sured.") +
            (elements ? "p." : "b.") + name + "." + shape.name + "." + type +
            "." + boundary;
        SurfaceModel model(device_, shape, sizeof(T), random_);
        model.surface.channel = channel;
        model.handle = device_.textures().add(model.surface);
        unit_ = elements ? sizeof(T) : 1;
        std::vector<ThreadInput> inputs;
        for (std::size_t i = 0; i < kThreads; ++i) {
          std::int64_t at[3] = {};
          inputs.push_back(draw(model, shape, sizeof(T), boundary, at));
          const std::int64_t place =
              model.place(at, unit_, sizeof(T), boundary);
          if (place >= 0) {
            T old;
            T value;
            std::memcpy(&old, model.bytes.data() + place, sizeof(T));
            std::memcpy(&value, &inputs[i].words[4], sizeof(T));
            old = reduced(name, old, value);
            std::memcpy(model.bytes.data() + place, &old, sizeof(T));
          }
        }
        run_texture_kernel(
            device_,
            (sizeof(T) == 8 ? "mov.b64 %w0, {%i4, %i5};\n" : "") + key + " " +
                object_of(shape) + ", " + (sizeof(T) == 8 ? "%w0" : "%i4") +
                ";\n",
            inputs);
        ASSERT_TRUE(
            std::equal(model.bytes.begin(), model.bytes.end(), model.memory))
            << key;
        record_checked(key);
      }
    }
  }
};

TEST_F(Reductions, CombineWithWhatIsThere) {
  using Channel = Texture::Channel;
  const Channel any = Channel::kUnsigned;
  check<std::uint32_t>("add", "u32", false, any);
  check<std::int32_t>("add", "s32", false, any);
  check<std::uint64_t>("add", "u64", false, any);
  for (const char* name : {"min", "max"}) {
    check<std::uint32_t>(name, "u32", false, any);
    check<std::int32_t>(name, "s32", false, any);
    check<std::uint64_t>(name, "u64", false, any);
    check<std::int64_t>(name, "s64", false, any);
  }
  for (const char* name : {"and", "or"}) {
    check<std::uint32_t>(name, "b32", false, any);
  }
  for (const char* name : {"add", "min", "max", "and", "or"}) {
    check<std::uint32_t>(name, "b32", true, Channel::kUnsigned);
    check<std::int32_t>(name, "b32", true, Channel::kSigned);
  }
}

} // namespace
} // namespace cudasim::engine::testing
