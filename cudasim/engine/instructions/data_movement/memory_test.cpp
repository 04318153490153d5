// Loads and stores of every type in every space.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/instruction_harness.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

/// The largest vector: 4 x 4 or 2 x 8 bytes.
constexpr std::size_t kWidest = 16;
/// Bytes of each lane's place.
constexpr std::size_t kLaneBytes = 32;
constexpr std::size_t kBytes = 32 * kLaneBytes;

struct MemoryType {
  std::string name;
  std::size_t size;
  bool is_signed;
};
const MemoryType kTypes[] = {
    {"b8", 1, false},
    {"u8", 1, false},
    {"s8", 1, true},
    {"b16", 2, false},
    {"u16", 2, false},
    {"s16", 2, true},
    {"b32", 4, false},
    {"u32", 4, false},
    {"s32", 4, true},
    {"f32", 4, false},
    {"b64", 8, false},
    {"u64", 8, false},
    {"s64", 8, true},
    {"f64", 8, false}};

std::string number(std::size_t value) {
  return std::to_string(value);
}

/// "{%r0, %r1}" or "%r0".
std::string registers(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "%r" : ", %r") + number(i);
  }
  return count == 1 ? text : "{" + text + "}";
}

/// The parts of a kernel that depend on a state space.
struct SpaceText {
  std::string name; // ".global", or "" for generic
  /// Declares `data` of kBytes bytes if the space needs it.
  std::string declaration;
  /// Sets %base to the address of lane %place's bytes.
  std::string address;
  /// Whether each lane sees only its own bytes.
  bool is_own = false;
};

const std::string kFromData =
    "mov.u64 %base, data;\n"
    "mad.wide.u32 %base, %place, 32, %base;\n";

std::vector<SpaceText> spaces() {
  const std::string in_global =
      "ld.param.u64 %base, [in];\nmad.wide.u32 %base, %place, 32, %base;\n";
  const std::string shared = ".shared .align 16 .b8 data[1024];\n";
  // A lane's local memory holds its own place only.
  const std::string local = ".local .align 16 .b8 data[32];\n";
  return {
      {".global", "", in_global},
      {"", "", in_global},
      {"", shared, kFromData + "cvta.shared.u64 %base, %base;\n"},
      {".shared", shared, kFromData},
      {".local", local, "mov.u64 %base, data;\n", true},
      {"", local, "mov.u64 %base, data;\ncvta.local.u64 %base, %base;\n", true},
  };
}

const std::string kHead =
    ".visible .entry kernel(.param .u64 in, .param .u64 out, .param .u64 order,"
    " .param .u32 mask, .param .align 16 .b8 parameter[1024]) {\n";
/// Every lane has a place, which is any permutation of the lanes.
const std::string kBegin =
    ".reg .b64 %p, %q, %base;\n.reg .b32 %lane, %place, %mask, %x, %i;\n"
    ".reg .b8 %byte;\n.reg .pred %on, %again;\n"
    "mov.u32 %lane, %tid.x;\n"
    "ld.param.u64 %p, [order];\nmad.wide.u32 %p, %lane, 4, %p;\n"
    "ld.global.u32 %place, [%p];\n"
    "ld.param.u32 %mask, [mask];\nshr.u32 %mask, %mask, %lane;\n"
    "and.b32 %mask, %mask, 1;\nsetp.ne.u32 %on, %mask, 0;\n";

/// Copies the 32 bytes at %p to those at %q, a word at a time.
std::string copy_words(const std::string& from, const std::string& to) {
  std::string text;
  for (int i = 0; i < 32; i += 4) {
    const std::string at = "+" + std::to_string(i) + "]";
    text += "ld" + from + ".b32 %x, [%p" + at + ";\nst" + to + ".b32 [%q" + at +
        ", %x;\n";
  }
  return text;
}

/// Brings `in` to the space, where the instruction is to load it from.
std::string fill(const SpaceText& space) {
  if (space.declaration.empty()) {
    return "";
  }
  return "ld.param.u64 %p, [in];\nmad.wide.u32 %p, %place, 32, %p;\n" +
      space.address + "mov.b64 %q, %base;\n" +
      copy_words(".global", space.name) + "bar.sync 0;\n";
}

std::vector<unsigned char> random_bytes(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(kBytes);
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(random());
  }
  return bytes;
}

/// Lanes in order, and in an order that has neighbours nowhere.
std::vector<std::vector<std::uint32_t>> orders() {
  std::vector<std::uint32_t> straight(32);
  std::iota(straight.begin(), straight.end(), 0u);
  std::vector<std::uint32_t> mixed = straight;
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937(3));
  return {straight, mixed};
}

constexpr std::uint32_t kMasks[] = {0xffffffffu, 0x00f0a001u};

/// A value of a type as it lies in a register of `width` bytes.
Bits extended(Bits value, const MemoryType& type, std::size_t width) {
  const int bits = static_cast<int>(type.size * 8);
  if (type.is_signed && bits < 64 && (value >> (bits - 1) & 1) != 0) {
    value |= ~Bits{0} << bits;
  }
  return width == 8 ? value : value & ((Bits{1} << (8 * width)) - 1);
}

struct Parameter {
  unsigned char bytes[kBytes];
};
Parameter as_parameter(const std::vector<unsigned char>& bytes) {
  Parameter parameter;
  std::copy(bytes.begin(), bytes.end(), parameter.bytes);
  return parameter;
}

/// @param stride bytes from lane to lane, so that lanes are neighbours or not.
void check_load(
    const SpaceText& space,
    const MemoryType& type,
    std::size_t vector,
    std::size_t width) {
  const std::string key = "ld" + space.name +
      (vector == 1 ? "" : ".v" + number(vector)) + "." + type.name;
  std::string text = space.name == ".const"
      ? ".const .align 16 .b8 data[1024];\n" + kHead
      : kHead + space.declaration;
  text += kBegin + ".reg .b" + number(8 * width) + " %r<4>;\n";
  text += space.name == ".const" || space.name == ".param" ? "" : fill(space);
  text += "ld.param.u64 %p, [out];\nmad.wide.u32 %p, %lane, 32, %p;\n";
  for (std::size_t k = 0; k < vector; ++k) {
    text += "ld.global.b" + number(8 * width) + " %r" + number(k) + ", [%p+" +
        number(8 * k) + "];\n";
  }
  // A part of the address is a constant.
  text += space.address + "sub.u64 %base, %base, 48;\n@%on " + key + " " +
      registers(vector) + ", [%base+48];\n";
  for (std::size_t k = 0; k < vector; ++k) {
    text += "st.global.b" + number(8 * width) + " [%p+" + number(8 * k) +
        "], %r" + number(k) + ";\n";
  }
  text += "ret;\n}\n";
  const std::vector<unsigned char> bytes = random_bytes(7);
  Differences differences(key);
  for (const auto& order : orders()) {
    for (const std::uint32_t mask : kMasks) {
      TestDevice device;
      auto* in = device.copy_of(bytes);
      const std::vector<unsigned char> before = random_bytes(8);
      auto* out = device.copy_of(before);
      auto* places = device.copy_of(order);
      device.load(text);
      if (const Symbol* symbol = device.module().symbol("data")) {
        std::copy(
            bytes.begin(),
            bytes.end(),
            reinterpret_cast<unsigned char*>(symbol->address));
      }
      const Outcome outcome = device.run(
          "kernel", Shape{}, in, out, places, mask, as_parameter(bytes));
      ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t k = 0; k < vector; ++k) {
          const std::size_t at = lane * 32 + 8 * k;
          Bits is = 0;
          Bits right = 0;
          std::memcpy(&is, out + at, width);
          if ((mask >> lane & 1) != 0) {
            std::memcpy(
                &right,
                bytes.data() + std::size_t{order[lane]} * 32 + k * type.size,
                type.size);
            right = extended(right, type, width);
          } else {
            std::memcpy(&right, before.data() + at, width);
          }
          if (is != right) {
            differences.add({lane, k}, "the register", is, right);
          }
        }
      }
    }
  }
  record_checked(key);
}

void check_loads(const SpaceText& space) {
  for (const MemoryType& type : kTypes) {
    for (const std::size_t vector : {1u, 2u, 4u}) {
      if (vector * type.size > kWidest) {
        continue;
      }
      check_load(space, type, vector, std::max<std::size_t>(2, type.size));
      if (type.size < 8) {
        check_load(space, type, vector, 8);
      }
    }
  }
}

TEST(Memory, LoadsExtendBySign) {
  for (const SpaceText& space : spaces()) {
    check_loads(space);
  }
}

TEST(Memory, LoadsConstantsAndParameters) {
  check_loads({".const", "", kFromData});
  check_loads(
      {".param",
       "",
       "mov.u64 %base, parameter;\nmad.wide.u32 %base, %place, 32, %base;\n"});
}

void check_store(
    const SpaceText& space,
    const MemoryType& type,
    std::size_t vector,
    std::size_t width) {
  const std::string key = "st" + space.name +
      (vector == 1 ? "" : ".v" + number(vector)) + "." + type.name;
  std::string text = kHead + space.declaration + kBegin + ".reg .b" +
      number(8 * width) + " %r<4>;\n";
  // What is in the space before, of which `out` is a copy at the beginning.
  const bool global = space.declaration.empty();
  SpaceText target = space;
  if (global) {
    target.address =
        "ld.param.u64 %base, [out];\nmad.wide.u32 %base, %place, 32, %base;\n";
  } else {
    text += "ld.param.u64 %p, [out];\nmad.wide.u32 %p, %place, 32, %p;\n" +
        space.address + "mov.b64 %q, %base;\n" +
        copy_words(".global", space.name) + "bar.sync 0;\n";
  }
  text += "ld.param.u64 %p, [in];\nmad.wide.u32 %p, %lane, 32, %p;\n";
  for (std::size_t k = 0; k < vector; ++k) {
    text += "ld.global.b" + number(8 * width) + " %r" + number(k) + ", [%p+" +
        number(8 * k) + "];\n";
  }
  text += target.address + "sub.u64 %base, %base, 16;\n@%on " + key +
      " [%base+16], " + registers(vector) + ";\n";
  if (!global) {
    text +=
        "bar.sync 0;\nadd.u64 %p, %base, 16;\nld.param.u64 %q, [out];\n"
        "mad.wide.u32 %q, %place, 32, %q;\n" +
        copy_words(space.name, ".global");
  }
  text += "ret;\n}\n";
  const std::vector<unsigned char> in_bytes = random_bytes(9);
  Differences differences(key);
  for (const auto& order : orders()) {
    for (const std::uint32_t mask : kMasks) {
      TestDevice device;
      std::vector<unsigned char> right = random_bytes(10);
      auto* in = device.copy_of(in_bytes);
      auto* out = device.copy_of(right);
      auto* places = device.copy_of(order);
      device.load(text);
      const Outcome outcome = device.run(
          "kernel", Shape{}, in, out, places, mask, as_parameter(in_bytes));
      ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t k = 0; k < vector && (mask >> lane & 1) != 0; ++k) {
          std::memcpy(
              right.data() + std::size_t{order[lane]} * 32 + k * type.size,
              in_bytes.data() + lane * 32 + 8 * k,
              type.size);
        }
      }
      for (std::size_t i = 0; i < kBytes; ++i) {
        if (out[i] != right[i]) {
          differences.add({i}, "the byte", out[i], right[i]);
        }
      }
    }
  }
  record_checked(key);
}

TEST(Memory, StoresTheLowBytes) {
  for (const SpaceText& space : spaces()) {
    for (const MemoryType& type : kTypes) {
      for (const std::size_t vector : {1u, 2u, 4u}) {
        if (vector * type.size > kWidest) {
          continue;
        }
        check_store(space, type, vector, std::max<std::size_t>(2, type.size));
        if (type.size < 8) {
          check_store(space, type, vector, 8);
        }
      }
    }
  }
}

/// Moves the 32 bytes of each lane, by one access and by one of each value.
/// @param loads whether the load is the one that moves all.
void check_widest(
    const std::string& space,
    const MemoryType& type,
    bool loads,
    const std::string& hints = "") {
  const std::size_t count = 32 / type.size;
  const std::string wide =
      space + hints + ".v" + number(count) + "." + type.name;
  const auto each = [&](const auto& line) {
    std::string text;
    for (std::size_t k = 0; k < count; ++k) {
      text += "@%on " + line("%r" + number(k), "+" + number(k * type.size));
    }
    return text;
  };
  const std::string plain = ".global.b" + number(8 * type.size) + " ";
  std::string text = kHead + kBegin + ".reg .b" + number(8 * type.size) +
      " %r<8>;\nld.param.u64 %p, [in];\nmad.wide.u32 %p, %place, 32, %p;\n"
      "ld.param.u64 %q, [out];\nmad.wide.u32 %q, %lane, 32, %q;\n"
      "sub.u64 %p, %p, 64;\n";
  text += loads ? "@%on ld" + wide + " " + registers(count) + ", [%p+64];\n"
                : each([&](const std::string& r, const std::string& at) {
                    return "ld" + plain + r + ", [%p+64" + at + "];\n";
                  });
  text += loads ? each([&](const std::string& r, const std::string& at) {
    return "st" + plain + "[%q" + at + "], " + r + ";\n";
  })
                : "@%on st" + wide + " [%q], " + registers(count) + ";\n";
  text += "ret;\n}\n";
  const std::vector<unsigned char> bytes = random_bytes(12);
  const std::string key = (loads ? "ld" : "st") + wide;
  for (const auto& order : orders()) {
    for (const std::uint32_t mask : kMasks) {
      TestDevice device;
      std::vector<unsigned char> right = random_bytes(13);
      auto* in = device.copy_of(bytes);
      auto* out = device.copy_of(right);
      auto* places = device.copy_of(order);
      device.load(text);
      const Outcome outcome = device.run(
          "kernel", Shape{}, in, out, places, mask, as_parameter(bytes));
      ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1) != 0) {
          std::memcpy(&right[lane * 32], &bytes[order[lane] * 32], 32);
        }
      }
      EXPECT_TRUE(std::equal(right.begin(), right.end(), out)) << key;
    }
  }
  record_checked(key);
}

TEST(Memory, VectorsOf32BytesInGlobalMemory) {
  for (const MemoryType& type : kTypes) {
    for (const std::string space : {"", ".global"}) {
      for (const bool loads : {true, false}) {
        if (type.size >= 4) {
          check_widest(space, type, loads);
        }
      }
    }
  }
  check_widest(
      ".global.nc", kTypes[9], true, ".L1::evict_last.L2::evict_last.L2::256B");
  check_widest(".global", kTypes[10], false, ".L1::no_allocate");
}

TEST(Memory, AVectorOf32BytesIsAlignedToThem) {
  TestDevice device;
  auto* words = device.zeros<std::uint32_t>(16);
  device.load(
      ".visible .entry kernel(.param .u64 words) {\n.reg .b64 %p;\n"
      ".reg .b32 %r<8>;\nld.param.u64 %p, [words];\n"
      "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%p+16];\n"
      "ret;\n}\n");
  EXPECT_EQ(
      device.run("kernel", Shape{}, words).fault,
      FaultKind::kMisalignedAddress);
}

TEST(Memory, NeighboursMoveAtOnce) {
  // Lanes one element apart, the commonest access, from and to each type.
  for (const MemoryType& type : kTypes) {
    const std::size_t width = std::max<std::size_t>(2, type.size);
    TestDevice device;
    const std::vector<unsigned char> bytes = random_bytes(4);
    auto* in = device.copy_of(bytes);
    auto* out = device.zeros<unsigned char>(kBytes);
    device.load(
        ".visible .entry kernel(.param .u64 in, .param .u64 out) {\n"
        ".reg .b64 %p;\n.reg .b32 %lane;\n.reg .b" +
        number(8 * width) +
        " %r;\nmov.u32 %lane, %tid.x;\n"
        "ld.param.u64 %p, [in];\nmad.wide.u32 %p, %lane, " +
        number(type.size) + ", %p;\nld.global." + type.name +
        " %r, [%p];\nld.param.u64 %p, [out];\nmad.wide.u32 %p, %lane, " +
        number(type.size) + ", %p;\nst.global." + type.name +
        " [%p], %r;\nret;\n}\n");
    const Outcome outcome = device.run("kernel", Shape{}, in, out);
    ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
    EXPECT_TRUE(std::equal(out, out + 32 * type.size, bytes.begin()))
        << type.name;
    EXPECT_EQ(out[32 * type.size], 0) << type.name;
  }
}

// As ptxas takes it, and Triton writes it.
TEST(Memory, OneValueInBracesIsTheValue) {
  TestDevice device;
  auto* words = device.copy_of(std::vector<std::uint32_t>{7, 0, 0});
  device.load(
      ".visible .entry kernel(.param .u64 words) {\n"
      ".reg .b64 %p;\n.reg .b32 %r<4>;\n"
      "ld.param.u64 {%p}, [words];\n"
      "ld.global.b32 {%r0}, [%p];\n"
      "mov.b32 %r1, {%r0};\nmov.b32 {%r2}, %r1;\n"
      "st.global.b32 [%p+4], {%r2};\nst.global.b32 [%p+8], {5};\nret;\n}\n");
  Shape one;
  one.block = {1, 1, 1};
  const Outcome outcome = device.run("kernel", one, words);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  EXPECT_EQ(words[1], 7u);
  EXPECT_EQ(words[2], 5u);
}

} // namespace
} // namespace cudasim::engine::testing
