// Atomic operations of the lanes of a warp on one word and on words of their
// own, against the same operations in the order of the lanes.
#include <gtest/gtest.h>

#include <algorithm>
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

/// Words that the lanes of a warp work on: lane i on word i % kWords.
constexpr std::size_t kWords = 5;

/// The state spaces that an atomic can name.
const std::string kSpaces[] = {"", ".global", ".shared"};

/// A kernel that brings kWords words to the space, lets the lanes of a mask
/// execute an instruction, and stores what came back and what is there now.
/// @param type of a word: "b32".
/// @param instruction with "[%place]" as address, %old, %a and %b.
std::string kernel_text(
    const std::string& space,
    const std::string& type,
    const std::string& size,
    const std::string& instruction) {
  const bool shared = space == ".shared";
  // Generic addresses point into shared memory as well as into global memory;
  // here they are global ones.
  return ".visible .entry kernel(.param .u64 words, .param .u64 olds,"
         " .param .u64 as, .param .u64 bs, .param .u32 mask) {\n"
         ".shared .align 8 ." +
      type +
      " store[5];\n"
      ".reg .b64 %p, %global, %place, %offset;\n"
      ".reg .b32 %lane, %word, %mask, %shared;\n.reg .pred %on, %first;\n"
      ".reg ." +
      type +
      " %old, %a, %b, %x;\n"
      "mov.u32 %lane, %tid.x;\nrem.u32 %word, %lane, 5;\n"
      "ld.param.u64 %p, [as];\nmad.wide.u32 %p, %lane, " +
      size +
      ", %p;\n"
      "ld.global." +
      type +
      " %a, [%p];\n"
      "ld.param.u64 %p, [bs];\nmad.wide.u32 %p, %lane, " +
      size +
      ", %p;\n"
      "ld.global." +
      type +
      " %b, [%p];\n"
      "ld.param.u64 %p, [olds];\nmad.wide.u32 %p, %lane, " +
      size + ", %p;\nld.global." + type +
      " %old, [%p];\n"
      "ld.param.u64 %global, [words];\n"
      "mad.wide.u32 %global, %word, " +
      size +
      ", %global;\n"
      "mov.u32 %shared, store;\n"
      "mad.lo.u32 %shared, %word, " +
      size +
      ", %shared;\n"
      "setp.lt.u32 %first, %lane, 5;\n"
      "ld.global." +
      type +
      " %x, [%global];\n"
      "@%first st.shared." +
      type +
      " [%shared], %x;\n"
      "bar.sync 0;\n" +
      (shared ? "cvt.u64.u32 %place, %shared;\n"
              : "mov.b64 %place, %global;\n") +
      "ld.param.u32 %mask, [mask];\nshr.u32 %mask, %mask, %lane;\n"
      "and.b32 %mask, %mask, 1;\nsetp.ne.u32 %on, %mask, 0;\n"
      "@%on " +
      instruction +
      ";\n"
      "st.global." +
      type + " [%p], %old;\n" +
      (shared ? "bar.sync 0;\nld.shared." + type +
               " %x, [%shared];\n"
               "@%first st.global." +
               type + " [%global], %x;\n"
              : std::string()) +
      "ret;\n}\n";
}

/// The word afterwards.
using Change = std::function<Bits(Bits old, Bits a, Bits b)>;
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

void check_one(
    const std::string& space,
    const std::string& operation,
    const std::string& type,
    std::size_t size,
    const std::vector<Bits>& edges,
    const Change& change,
    Same same,
    bool returns) {
  const std::string opcode = returns ? "atom" : "red";
  const std::string key = opcode + space + "." + operation + "." + type;
  if (!is_instruction(key)) {
    return;
  }
  const bool cas = operation == "cas";
  const std::string instruction =
      key + (returns ? " %old, " : " ") + "[%place], %a" + (cas ? ", %b" : "");
  const std::string word = "b" + std::to_string(8 * size);
  const Register kind = size == 2 ? Register::k16
      : size == 4                 ? Register::k32
                                  : Register::k64;
  const std::vector<Bits> pool_a = sample(kind, edges, 1);
  const std::vector<Bits> pool_b = sample(kind, edges, 2);
  const std::vector<Bits> pool_words = sample(kind, edges, 3);
  for (const bool concurrent : {false, true}) {
    std::ptrdiff_t at = 0;
    for (const std::uint32_t mask : {0xffffffffu, 0x80000001u, 0x0f0f3355u}) {
      TestDevice device;
      std::vector<Bits> words(
          pool_words.begin() + at, pool_words.begin() + at + kWords);
      std::vector<Bits> a(pool_a.begin() + at, pool_a.begin() + at + 32);
      const std::vector<Bits> b(pool_b.begin() + at, pool_b.begin() + at + 32);
      at += 32;
      std::vector<Bits> olds(32, 0x1234);
      // A word and an operand that are equal: where inc and dec wrap around.
      a[0] = words[0];
      a[1] = words[1] + 1;
      if (cas) {
        // Half of the comparisons hold.
        for (std::size_t i = 0; i < 32; i += 2) {
          a[i] = words[i % kWords];
        }
      }
      char* const d_words = device.copy_of(to_bytes(words, size));
      char* const d_olds = device.copy_of(to_bytes(olds, size));
      char* const d_a = device.copy_of(to_bytes(a, size));
      char* const d_b = device.copy_of(to_bytes(b, size));
      device.load(kernel_text(space, word, std::to_string(size), instruction));
      Shape shape;
      shape.workers = concurrent ? 2 : 1;
      const Outcome outcome =
          device.run("kernel", shape, d_words, d_olds, d_a, d_b, mask);
      ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1) != 0) {
          Bits& target = words[lane % kWords];
          if (returns) {
            olds[lane] = target;
          }
          target = change(target, a[lane], b[lane]);
        }
      }
      const std::vector<Bits> now = to_bits(d_words, kWords, size);
      const std::vector<Bits> old = to_bits(d_olds, 32, size);
      Differences differences(key);
      for (std::size_t i = 0; i < kWords; ++i) {
        if (!same(now[i], words[i])) {
          differences.add({i}, "the word", now[i], words[i]);
        }
      }
      for (std::size_t i = 0; i < 32; ++i) {
        if (!same(old[i], olds[i])) {
          differences.add({i}, "the old word", old[i], olds[i]);
        }
      }
    }
  }
  record_checked(key);
}

template <typename T, typename F>
void check_atomic(
    const std::string& operation,
    const std::string& type,
    F compute,
    bool has_red = true) {
  const Change change = [&](Bits old, Bits a, Bits b) {
    return Kind<T>::pack(
        compute(Kind<T>::unpack(old), Kind<T>::unpack(a), Kind<T>::unpack(b)));
  };
  for (const std::string& space : kSpaces) {
    for (const bool returns : {true, false}) {
      if (returns || has_red) {
        check_one(
            space,
            operation,
            type,
            sizeof(T),
            Kind<T>::edges(),
            change,
            Kind<T>::same,
            returns);
      }
    }
  }
}

template <typename T>
void check_ordered(const std::string& type) {
  check_atomic<T>("add", type, [](T old, T a, T) {
    return static_cast<T>(
        static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(a));
  });
  check_atomic<T>("min", type, [](T old, T a, T) { return std::min(old, a); });
  check_atomic<T>("max", type, [](T old, T a, T) { return std::max(old, a); });
}

TEST(Atomic, SumsAndExtremesOfIntegers) {
  check_ordered<std::uint32_t>("u32");
  check_ordered<std::int32_t>("s32");
  check_ordered<std::uint64_t>("u64");
  check_ordered<std::int64_t>("s64");
}

template <typename T>
void check_bits(const std::string& type) {
  check_atomic<T>("and", type, [](T old, T a, T) { return old & a; });
  check_atomic<T>("or", type, [](T old, T a, T) { return old | a; });
  check_atomic<T>("xor", type, [](T old, T a, T) { return old ^ a; });
  check_atomic<T>("exch", type, [](T, T a, T) { return a; });
}

TEST(Atomic, BitsAndExchange) {
  check_bits<std::uint32_t>("b32");
  check_bits<std::uint64_t>("b64");
}

TEST(Atomic, CountersThatWrapAround) {
  using U = std::uint32_t;
  check_atomic<U>(
      "inc", "u32", [](U old, U a, U) { return old >= a ? 0 : old + 1; });
  check_atomic<U>("dec", "u32", [](U old, U a, U) {
    return old == 0 || old > a ? a : old - 1;
  });
}

template <typename T>
void check_swap(const std::string& type) {
  check_atomic<T>(
      "cas", type, [](T old, T a, T b) { return old == a ? b : old; }, false);
}

TEST(Atomic, CompareAndSwap) {
  check_swap<std::uint16_t>("b16");
  check_swap<std::uint32_t>("b32");
  check_swap<std::uint64_t>("b64");
}

/// A denormal number as zero of the same sign.
float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

TEST(Atomic, SumsOfFloats) {
  using Float = Kind<float>;
  // In global memory denormal numbers are zeros (PTX ISA 9.7.13.4). .ftz is
  // not part of the syntax, and is taken as add.
  for (const std::string& space : kSpaces) {
    const bool flushes = space != ".shared";
    const Change add = [flushes](Bits old, Bits a, Bits) {
      const float x = Float::unpack(old);
      const float y = Float::unpack(a);
      return Float::pack(flushes ? flushed(flushed(x) + flushed(y)) : x + y);
    };
    for (const std::string operation : {"add"}) {
      for (const bool returns : {true, false}) {
        check_one(
            space,
            operation,
            "f32",
            sizeof(float),
            Float::edges(),
            add,
            Float::same,
            returns);
      }
    }
  }
  check_atomic<double>(
      "add", "f64", [](double old, double a, double) { return old + a; });
}

TEST(Atomic, AGenericAddressOfSharedMemoryKeepsDenormalSums) {
  TestDevice device;
  auto* out = device.zeros<std::uint32_t>(1);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .shared .align 4 .b32 word;
    .reg .b64 %out, %word;
    .reg .f32 %sum;
    ld.param.u64 %out, [out];
    st.shared.b32 [word], 1;
    cvta.shared.u64 %word, word;
    atom.add.f32 %sum, [%word], 0f00000002;
    ld.shared.f32 %sum, [word];
    st.global.f32 [%out], %sum;
    ret;
  })");
  Shape shape;
  shape.block.x = 1;
  const Outcome outcome = device.run("kernel", shape, out);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  EXPECT_EQ(*out, 3u);
}

std::uint16_t add16(Sixteen f, std::uint32_t a, std::uint32_t b) {
  return compute(
      f,
      Operation::kAdd,
      static_cast<std::uint16_t>(a),
      static_cast<std::uint16_t>(b));
}
template <typename Two>
Two add_pair(Sixteen f, Two a, Two b) {
  const std::uint32_t high = add16(f, a.bits >> 16, b.bits >> 16);
  return {high << 16 | add16(f, a.bits & 0xffff, b.bits & 0xffff)};
}
TEST(Atomic, Halves) {
  constexpr Sixteen kHalf = Sixteen::kHalf;
  constexpr Sixteen kBrain = Sixteen::kBrain;
  check_atomic<F16>("add.noftz", "f16", [](F16 old, F16 a, F16) {
    return F16{add16(kHalf, old.bits, a.bits)};
  });
  check_atomic<BF16>("add.noftz", "bf16", [](BF16 old, BF16 a, BF16) {
    return BF16{add16(kBrain, old.bits, a.bits)};
  });
  check_atomic<F16x2>("add.noftz", "f16x2", [](F16x2 old, F16x2 a, F16x2) {
    return add_pair(kHalf, old, a);
  });
  check_atomic<BF16x2>("add.noftz", "bf16x2", [](BF16x2 old, BF16x2 a, BF16x2) {
    return add_pair(kBrain, old, a);
  });
}

TEST(Atomic, BlocksOnSeveralHostThreadsLoseNothing) {
  TestDevice device;
  auto* sum = device.zeros<std::uint32_t>(1);
  auto* real = device.zeros<float>(1);
  auto* swaps = device.zeros<std::uint32_t>(1);
  device.load(R"(.visible .entry kernel(.param .u64 a, .param .u64 b,
    .param .u64 c) {
    .reg .b64 %a, %b, %c; .reg .b32 %i, %old, %new; .reg .pred %again;
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];
    mov.u32 %i, 0;
    LOOP:
    red.global.add.u32 [%a], 1;
    red.global.add.f32 [%b], 0f3F800000;
    ld.global.u32 %new, [%c];
    RETRY:
    mov.u32 %old, %new;
    add.u32 %new, %old, 1;
    atom.global.cas.b32 %new, [%c], %old, %new;
    setp.ne.u32 %again, %new, %old;
    @%again bra RETRY;
    add.u32 %i, %i, 1;
    setp.lt.u32 %again, %i, 20;
    @%again bra LOOP;
    ret; })");
  Shape shape;
  shape.grid.x = 16;
  shape.block.x = 64;
  shape.workers = 2;
  const Outcome outcome = device.run("kernel", shape, sum, real, swaps);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  EXPECT_EQ(*sum, 16u * 64 * 20);
  EXPECT_EQ(*real, 16.0f * 64 * 20);
  EXPECT_EQ(*swaps, 16u * 64 * 20);
}

} // namespace
} // namespace cudasim::engine::testing
