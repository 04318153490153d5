// wmma of 4-bit integers and single bits: matrices in memory, whose product is
// what it has to be; which lane has which element is not looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

struct Case {
  std::string type; // "s4", "u4" or "b1"
  int k; // 32 or 128
  std::string operation; // "", ".xor.popc" or ".and.popc"
  bool saturates;
  std::string space;
  std::string layout; // of C and D
  int padding; // of lines of A and B, elements; -1: no stride is given
};

using Bytes = std::vector<unsigned char>;

/// A line of so many numbers of a few bits, the first in the lowest.
void put(Bytes& bytes, int index, int bits, unsigned value) {
  const auto at = static_cast<std::size_t>(index * bits / 8);
  const int shift = index * bits % 8;
  bytes[at] = static_cast<unsigned char>(bytes[at] | value << shift);
}

void check_case(const Case& test) {
  const int bits = test.type == "b1" ? 1 : 4;
  const int stride = test.k + std::max(test.padding, 0);
  std::mt19937 random(7);
  const auto draw = [&] {
    const auto value = static_cast<int>(random() % (1u << bits));
    return test.type == "s4" && value > 7 ? value - 16 : value;
  };
  // Lines of A are its rows, lines of B its columns.
  std::vector<int> a(static_cast<std::size_t>(8 * test.k));
  std::vector<int> b(a.size());
  Bytes memory_a(static_cast<std::size_t>(8 * stride * bits / 8));
  Bytes memory_b(memory_a.size());
  for (int line = 0; line < 8; ++line) {
    for (int k = 0; k < test.k; ++k) {
      const auto at = static_cast<std::size_t>(line * test.k + k);
      const unsigned mask = (1u << bits) - 1;
      a[at] = draw();
      b[at] = draw();
      put(memory_a,
          line * stride + k,
          bits,
          static_cast<unsigned>(a[at]) & mask);
      put(memory_b,
          line * stride + k,
          bits,
          static_cast<unsigned>(b[at]) & mask);
    }
  }
  const auto place = [&](int row, int column) {
    return static_cast<std::size_t>(
        test.layout == "row" ? row * 8 + column : column * 8 + row);
  };
  std::vector<std::int32_t> c(64);
  std::vector<std::int32_t> expected(64);
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      const std::int64_t before = random() % 3 == 0
          ? 2147483647 - static_cast<int>(random() % 100)
          : static_cast<std::int32_t>(random());
      std::int64_t sum = before;
      for (int k = 0; k < test.k; ++k) {
        const int left = a[static_cast<std::size_t>(row * test.k + k)];
        const int right = b[static_cast<std::size_t>(column * test.k + k)];
        sum += test.operation == ".xor.popc" ? left ^ right : left * right;
      }
      if (test.saturates) {
        sum = std::clamp<std::int64_t>(sum, -2147483647 - 1, 2147483647);
      }
      c[place(row, column)] = static_cast<std::int32_t>(before);
      expected[place(row, column)] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
    }
  }
  const std::string shape = ".m8n8k" + std::to_string(test.k);
  const auto load = [&](const std::string& role,
                        const std::string& layout,
                        const std::string& type) {
    return "wmma.load." + role + ".sync.aligned." + layout + shape +
        test.space + "." + type;
  };
  const std::string load_a = load("a", "row", test.type);
  const std::string load_b = load("b", "col", test.type);
  const std::string load_c = load("c", test.layout, "s32");
  const std::string store_d =
      "wmma.store.d.sync.aligned." + test.layout + shape + test.space + ".s32";
  const std::string multiply = "wmma.mma" + test.operation +
      ".sync.aligned.row.col" + shape + ".s32." + test.type + "." + test.type +
      ".s32" + (test.saturates ? ".satfinite" : "");
  const std::string step =
      test.padding < 0 ? "" : ", " + std::to_string(stride);
  // Shared memory holds all four, one behind the other.
  std::string before;
  std::string after;
  std::string at_a = "%a", at_b = "%b", at_c = "%c", at_d = "%d";
  if (test.space == ".shared") {
    const std::size_t sizes[] = {memory_a.size(), memory_b.size(), 256, 256};
    std::string* places[] = {&at_a, &at_b, &at_c, &at_d};
    std::size_t offset = 0;
    for (int i = 0; i < 4; ++i) {
      const std::string global = *places[i];
      for (std::size_t at = 0; at < sizes[i]; at += 4) {
        const std::string in_tile = "[tile+" + std::to_string(offset + at);
        const std::string in_global = "[" + global + "+" + std::to_string(at);
        (i < 3 ? before : after) += i < 3 ? "ld.global.u32 %x, " + in_global +
                "];\nst.shared.u32 " + in_tile + "], %x;\n"
                                          : "ld.shared.u32 %x, " + in_tile +
                "];\nst.global.u32 " + in_global + "], %x;\n";
      }
      *places[i] = "tile+" + std::to_string(offset);
      offset += sizes[i];
    }
  }
  const std::string text =
      ".visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 c, "
      ".param .u64 d) {\n.shared .align 16 .b8 tile[4096];\n"
      ".reg .b64 %a, %b, %c, %d;\n.reg .b32 %x, %ra, %rb, %rc<2>, %rd<2>;\n"
      "ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\n"
      "ld.param.u64 %c, [c];\nld.param.u64 %d, [d];\n" +
      before + "bar.warp.sync 0xffffffff;\n" + load_a + " {%ra}, [" + at_a +
      "]" + step + ";\n" + load_b + " {%rb}, [" + at_b + "]" + step + ";\n" +
      load_c + " {%rc0, %rc1}, [" + at_c + "];\n" + multiply +
      " {%rd0, %rd1}, {%ra}, {%rb}, {%rc0, %rc1};\n" + store_d + " [" + at_d +
      "], {%rd0, %rd1}, 8;\nbar.warp.sync 0xffffffff;\n" + after + "ret;\n}\n";
  TestDevice device;
  device.load(text);
  auto* d = device.zeros<std::int32_t>(64);
  Shape shape_of_grid;
  const Outcome outcome = device.run(
      "kernel",
      shape_of_grid,
      device.copy_of(memory_a),
      device.copy_of(memory_b),
      device.copy_of(c),
      d);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
  EXPECT_EQ(std::vector<std::int32_t>(d, d + 64), expected)
      << multiply << " " << load_a << " " << test.padding;
  for (const std::string& key : {load_a, load_b, load_c, store_d, multiply}) {
    record_checked(key);
  }
}

TEST(SubByteMatrix, ProductsAreThoseOfTheirNumbers) {
  for (const std::string space : {"", ".global", ".shared"}) {
    for (const std::string layout : {"row", "col"}) {
      for (const int padding : {-1, 0, 1}) {
        for (const std::string type : {"s4", "u4"}) {
          for (const bool saturates : {false, true}) {
            check_case({type, 32, "", saturates, space, layout, 32 * padding});
          }
        }
        for (const std::string operation : {".xor.popc", ".and.popc"}) {
          check_case(
              {"b1", 128, operation, false, space, layout, 128 * padding});
        }
      }
    }
  }
}

} // namespace
} // namespace cudasim::engine::testing
