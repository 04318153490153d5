// Atomic operations on vectors, against the same operations one after the
// other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

using Same = bool (*)(Bits, Bits);

std::vector<char> to_bytes(const std::vector<Bits>& values, std::size_t size) {
  std::vector<char> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::memcpy(bytes.data() + i * size, &values[i], size);
  }
  return bytes;
}
std::vector<Bits> to_bits(
    const char* bytes,
    std::size_t count,
    std::size_t size) {
  std::vector<Bits> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&values[i], bytes + i * size, size);
  }
  return values;
}

std::uint16_t add16(Sixteen f, std::uint32_t a, std::uint32_t b) {
  return compute(
      f,
      Operation::kAdd,
      static_cast<std::uint16_t>(a),
      static_cast<std::uint16_t>(b));
}
/// Lanes change vectors of their own and of others, against the same operations
/// one after the other.
/// @param kind of a register. @param one what becomes of an element.
void check_vector(
    const std::string& operation,
    const std::string& type,
    std::size_t count,
    std::size_t size,
    const std::vector<Bits>& edges,
    const std::function<Bits(Bits, Bits)>& one,
    Same same) {
  const auto list = [&](const std::string& name) {
    std::string text;
    for (std::size_t k = 0; k < count; ++k) {
      text += (k == 0 ? "{" : ", ") + name + std::to_string(k);
    }
    return text + "}";
  };
  const std::string bits = ".b" + std::to_string(8 * size) + " ";
  const std::string bytes = std::to_string(size * count);
  const Register kind = size == 2 ? Register::k16 : Register::k32;
  for (const std::string space : {"", ".global"}) {
    for (const bool returns : {true, false}) {
      const std::string noftz = type == "f32" ? "" : ".noftz";
      const std::string key = (returns ? "atom" : "red") + space + "." +
          operation + noftz + ".v" + std::to_string(count) + "." + type;
      std::string text =
          ".visible .entry kernel(.param .u64 words, .param .u64 olds,"
          " .param .u64 as, .param .u32 mask) {\n.reg .b64 %w, %o, %p;\n"
          ".reg .b32 %lane, %word, %mask;\n.reg .pred %on;\n.reg" +
          bits +
          "%a<8>, %r<8>;\nmov.u32 %lane, %tid.x;\n"
          "rem.u32 %word, %lane, 5;\nld.param.u64 %w, [words];\n"
          "mad.wide.u32 %w, %word, " +
          bytes + ", %w;\nld.param.u64 %o, [olds];\nmad.wide.u32 %o, %lane, " +
          bytes + ", %o;\nld.param.u64 %p, [as];\nmad.wide.u32 %p, %lane, " +
          bytes +
          ", %p;\nld.param.u32 %mask, [mask];\n"
          "shr.u32 %mask, %mask, %lane;\nand.b32 %mask, %mask, 1;\n"
          "setp.ne.u32 %on, %mask, 0;\n";
      for (std::size_t k = 0; k < count; ++k) {
        const std::string at =
            std::to_string(k) + ", [%p+" + std::to_string(k * size) + "];\n";
        text += "ld.global" + bits + "%a" + at + "ld.global" + bits + "%r" + at;
      }
      text += "@%on " + key + " " + (returns ? list("%r") + ", " : "") +
          "[%w], " + list("%a") + ";\n";
      for (std::size_t k = 0; k < count; ++k) {
        text += "st.global" + bits + "[%o+" + std::to_string(k * size) +
            "], %r" + std::to_string(k) + ";\n";
      }
      text += "ret;\n}\n";
      const std::vector<Bits> pool = sample(kind, edges, 7);
      const std::vector<Bits> pool_words = sample(kind, edges, 8);
      for (const std::uint32_t mask : {0xffffffffu, 0x0f0f3355u}) {
        TestDevice device;
        std::vector<Bits> words(
            pool_words.begin(),
            pool_words.begin() + static_cast<std::ptrdiff_t>(5 * count));
        const std::vector<Bits> a(
            pool.begin(),
            pool.begin() + static_cast<std::ptrdiff_t>(32 * count));
        std::vector<Bits> olds = a; // of lanes that are not there
        char* const d_words = device.copy_of(to_bytes(words, size));
        char* const d_olds = device.copy_of(to_bytes(olds, size));
        char* const d_a = device.copy_of(to_bytes(a, size));
        device.load(text);
        const Outcome outcome =
            device.run("kernel", testing::Shape{}, d_words, d_olds, d_a, mask);
        ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
        for (std::size_t lane = 0; lane < 32; ++lane) {
          for (std::size_t k = 0; k < count && (mask >> lane & 1) != 0; ++k) {
            Bits& word = words[lane % 5 * count + k];
            if (returns) {
              olds[lane * count + k] = word;
            }
            word = one(word, a[lane * count + k]);
          }
        }
        const std::vector<Bits> now = to_bits(d_words, words.size(), size);
        const std::vector<Bits> old = to_bits(d_olds, olds.size(), size);
        Differences differences(key);
        for (std::size_t i = 0; i < words.size(); ++i) {
          if (!same(now[i], words[i])) {
            differences.add({i}, "the word", now[i], words[i]);
          }
        }
        for (std::size_t i = 0; i < olds.size(); ++i) {
          if (!same(old[i], olds[i])) {
            differences.add({i}, "the old word", old[i], olds[i]);
          }
        }
      }
      record_checked(key);
    }
  }
}

/// The smaller or the larger number; NaN loses, -0 is less than +0.
Bits extreme16(Sixteen format, bool most, Bits a, Bits b) {
  const double x = decode(format, static_cast<std::uint16_t>(a));
  const double y = decode(format, static_cast<std::uint16_t>(b));
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) ? b : a;
  }
  const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return less == most ? b : a;
}

template <typename One, typename Two>
void check_vectors(Sixteen format, const std::string& type) {
  for (const std::string operation : {"add", "min", "max"}) {
    const auto one = [&](Bits a, Bits b) -> Bits {
      return operation == "add" ? add16(
                                      format,
                                      static_cast<std::uint32_t>(a),
                                      static_cast<std::uint32_t>(b))
                                : extreme16(format, operation == "max", a, b);
    };
    const auto two = [&](Bits a, Bits b) {
      return one(a >> 16, b >> 16) << 16 | one(a & 0xffff, b & 0xffff);
    };
    for (const std::size_t count : {2u, 4u, 8u}) {
      check_vector(
          operation, type, count, 2, Kind<One>::edges(), one, Kind<One>::same);
      if (count != 8) {
        check_vector(
            operation,
            type + "x2",
            count,
            4,
            Kind<Two>::edges(),
            two,
            Kind<Two>::same);
      }
    }
  }
}

TEST(AtomicVector, OfAllTypes) {
  using Float = Kind<float>;
  for (const std::size_t count : {2u, 4u}) {
    check_vector(
        "add",
        "f32",
        count,
        4,
        Float::edges(),
        [](Bits a, Bits b) {
          return Float::pack(
              flushed(flushed(Float::unpack(a)) + flushed(Float::unpack(b))));
        },
        Float::same);
  }
  check_vectors<F16, F16x2>(Sixteen::kHalf, "f16");
  check_vectors<BF16, BF16x2>(Sixteen::kBrain, "bf16");
}

} // namespace
} // namespace cudasim::engine::testing
