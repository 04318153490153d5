// wmma: fragments are loaded, multiplied and stored, and the product is what it
// has to be; which lane has which element is not looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/testing/values.h"

namespace cudasim::engine::testing {
namespace {

/// The type of a matrix's elements.
struct Element {
  std::string name;
  int bytes;
  /// Numbers from `least` to `most`, whose products and sums are exact.
  int least;
  int most;
  Bits (*encode)(double);
  std::string register_type;
};

Bits half_bits(double x) {
  return encode(Sixteen::kHalf, x, Rounding::kNearest);
}
Bits brain_bits(double x) {
  return encode(Sixteen::kBrain, x, Rounding::kNearest);
}
Bits float_bits(double x) {
  return bits_to<std::uint32_t>(static_cast<float>(x));
}
Bits double_bits(double x) {
  return bits_to<Bits>(x);
}
Bits whole_bits(double x) {
  return static_cast<Bits>(static_cast<std::int64_t>(x));
}

const Element kF16{"f16", 2, -8, 8, half_bits, "b32"};
const Element kBf16{"bf16", 2, -8, 8, brain_bits, "b32"};
const Element kTf32{"tf32", 4, -8, 8, float_bits, "b32"};
const Element kF32{"f32", 4, -8, 8, float_bits, "f32"};
const Element kF64{"f64", 8, -8, 8, double_bits, "f64"};
const Element kS8{"s8", 1, -128, 127, whole_bits, "b32"};
const Element kU8{"u8", 1, 0, 255, whole_bits, "b32"};
const Element kS32{"s32", 4, -1000, 1000, whole_bits, "b32"};
/// Near the borders, for .satfinite.
const Element
    kLargeS32{"s32", 4, 2147483647 - 1000, 2147483647, whole_bits, "b32"};

struct Product {
  int m;
  int n;
  int k;
  Element a;
  Element b;
  Element c;
  Element d;
  std::string types; // of the product's key
  std::string modifier = "";
  std::string shape() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
        std::to_string(k);
  }
};

/// Where matrices are, and how their elements follow each other there.
struct Variant {
  std::string space; // "", ".global" or ".shared"
  bool a_by_rows;
  bool b_by_rows;
  bool c_by_rows;
  int padding; // elements between lines; -1: no stride is given
};

/// A matrix in memory.
struct Stored {
  const Element& element;
  int rows;
  int columns;
  bool by_rows;
  int padding;

  int stride() const {
    return (by_rows ? columns : rows) + std::max(padding, 0);
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(stride()) * (by_rows ? rows : columns) *
        element.bytes;
  }
  std::size_t place(int row, int column) const {
    const int index =
        by_rows ? row * stride() + column : column * stride() + row;
    return static_cast<std::size_t>(index) * element.bytes;
  }
  std::vector<unsigned char> contents(
      const std::vector<double>& numbers) const {
    std::vector<unsigned char> memory(bytes(), 0xcd);
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const Bits bits = element.encode(numbers[row * columns + column]);
        std::memcpy(
            &memory[place(row, column)],
            &bits,
            static_cast<std::size_t>(element.bytes));
      }
    }
    return memory;
  }
  std::string layout() const {
    return by_rows ? "row" : "col";
  }
};

std::vector<double> draw(const Stored& matrix, std::mt19937& random) {
  std::vector<double> numbers;
  for (int i = 0; i < matrix.rows * matrix.columns; ++i) {
    const auto span =
        static_cast<unsigned>(matrix.element.most - matrix.element.least + 1);
    numbers.push_back(
        matrix.element.least + static_cast<double>(random() % span));
  }
  return numbers;
}

int registers_of(const Element& element, int elements, bool is_input) {
  if (is_input && element.name == "f16") {
    return 8;
  }
  return elements / 32 / std::max(1, 4 / element.bytes);
}

std::string list(const std::string& prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "%" : ", %") + prefix + std::to_string(i);
  }
  return text + "}";
}

/// PTX that copies memory between `out` of global and `tile` of shared memory.
std::string copy_bytes(
    std::size_t bytes,
    const std::string& from,
    const std::string& to,
    const std::string& from_space,
    const std::string& to_space,
    const std::string& label) {
  return "mov.u64 %i, 0;\n" + label + ":\nadd.u64 %x, " + from + ", %i;\nld." +
      from_space + ".u8 %h, [%x];\nadd.u64 %x, " + to + ", %i;\nst." +
      to_space + ".u8 [%x], %h;\nadd.u64 %i, %i, 1;\n" +
      "setp.lt.u64 %p, %i, " + std::to_string(bytes) + ";\n@%p bra " + label +
      ";\nbar.warp.sync 0xffffffff;\n";
}

void check_product(const Product& product, const Variant& variant) {
  const Stored a{
      product.a, product.m, product.k, variant.a_by_rows, variant.padding};
  const Stored b{
      product.b, product.k, product.n, variant.b_by_rows, variant.padding};
  const Stored c{
      product.c, product.m, product.n, variant.c_by_rows, variant.padding};
  const Stored d{
      product.d, product.m, product.n, variant.c_by_rows, variant.padding};
  std::mt19937 random(3);
  const std::vector<double> left = draw(a, random);
  const std::vector<double> top = draw(b, random);
  const std::vector<double> sum = draw(c, random);
  std::vector<double> right;
  for (int row = 0; row < product.m; ++row) {
    for (int column = 0; column < product.n; ++column) {
      double value = sum[row * product.n + column];
      for (int k = 0; k < product.k; ++k) {
        value += left[row * product.k + k] * top[k * product.n + column];
      }
      if (product.modifier == ".satfinite") {
        value = std::clamp(value, -2147483648.0, 2147483647.0);
      }
      right.push_back(value);
    }
  }

  const auto load = [&](const std::string& role, const Stored& matrix) {
    return "wmma.load." + role + ".sync.aligned." + matrix.layout() + "." +
        product.shape() + variant.space + "." + matrix.element.name;
  };
  const std::string load_a = load("a", a);
  const std::string load_b = load("b", b);
  const std::string load_c = load("c", c);
  const std::string store_d = "wmma.store.d.sync.aligned." + d.layout() + "." +
      product.shape() + variant.space + "." + product.d.name;
  const std::string multiply = "wmma.mma.sync.aligned." + a.layout() + "." +
      b.layout() + "." + product.shape() + product.modifier + product.types;
  const int count_a = registers_of(product.a, product.m * product.k, true);
  const int count_b = registers_of(product.b, product.k * product.n, true);
  const int count_c = registers_of(product.c, product.m * product.n, false);
  const int count_d = registers_of(product.d, product.m * product.n, false);

  const bool shared = variant.space == ".shared";
  std::string before;
  std::string after;
  std::vector<std::string> places{"%ga", "%gb", "%gc", "%gd"};
  if (shared) {
    std::size_t offset = 0;
    const std::size_t sizes[] = {a.bytes(), b.bytes(), c.bytes(), d.bytes()};
    for (int i = 0; i < 4; ++i) {
      const std::string place = "%s" + std::to_string(i);
      before += "mov.u64 " + place + ", tile;\nadd.u64 " + place + ", " +
          place + ", " + std::to_string(offset) + ";\n";
      before += copy_bytes(
          sizes[i],
          places[static_cast<std::size_t>(i)],
          place,
          "global",
          "shared",
          "IN" + std::to_string(i));
      offset += (sizes[i] + 63) / 64 * 64;
      if (i == 3) {
        after = copy_bytes(sizes[i], place, "%gd", "shared", "global", "OUT");
      }
      places[static_cast<std::size_t>(i)] = place;
    }
    // One address of 32 bits.
    before += "cvt.u32.u64 %narrow, %s0;\n";
    places[0] = "%narrow";
  }
  const auto stride = [&](const Stored& matrix, bool in_register) {
    if (variant.padding < 0) {
      return std::string();
    }
    if (in_register) {
      before += "mov.u32 %stride, " + std::to_string(matrix.stride()) + ";\n";
      return std::string(", %stride");
    }
    return ", " + std::to_string(matrix.stride());
  };
  const std::string stride_a = stride(a, true);
  const std::string text =
      ".visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 c, "
      ".param .u64 d) {\n.shared .align 64 .b8 tile[16384];\n"
      ".reg .b64 %ga, %gb, %gc, %gd, %s<4>, %i, %x;\n"
      ".reg .b16 %h;\n.reg .b32 %narrow, %stride;\n.reg .pred %p;\n.reg ." +
      product.a.register_type + " %a<8>;\n.reg ." + product.b.register_type +
      " %b<8>;\n.reg ." + product.c.register_type + " %c<8>;\n.reg ." +
      product.d.register_type +
      " %d<8>;\n"
      "ld.param.u64 %ga, [a];\nld.param.u64 %gb, [b];\n"
      "ld.param.u64 %gc, [c];\nld.param.u64 %gd, [d];\n" +
      before + load_a + " " + list("a", count_a) + ", [" + places[0] + "]" +
      stride_a + ";\n" + load_b + " " + list("b", count_b) + ", [" + places[1] +
      "]" + stride(b, false) + ";\n" + load_c + " " + list("c", count_c) +
      ", [" + places[2] + "]" + stride(c, false) + ";\n" + multiply + " " +
      list("d", count_d) + ", " + list("a", count_a) + ", " +
      list("b", count_b) + ", " + list("c", count_c) + ";\n" + store_d + " [" +
      places[3] + "], " + list("d", count_d) + stride(d, false) + ";\n" +
      after + "ret;\n}\n";
  TestDevice device;
  device.load(text);
  auto* result = device.copy_of(std::vector<unsigned char>(d.bytes(), 0xcd));
  const Outcome outcome = device.run(
      "kernel",
      Shape{},
      device.copy_of(a.contents(left)),
      device.copy_of(b.contents(top)),
      device.copy_of(c.contents(sum)),
      result);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
  const std::vector<unsigned char> expected = d.contents(right);
  EXPECT_EQ(std::vector<unsigned char>(result, result + d.bytes()), expected)
      << multiply << " " << load_a << " " << load_b << " " << store_d;
  for (const std::string& key : {load_a, load_b, load_c, store_d, multiply}) {
    record_checked(key);
  }
}

void check_variants(const Product& product) {
  for (const char* space : {"", ".global", ".shared"}) {
    for (const int padding : {-1, 0, 8}) {
      check_product(product, {space, true, true, true, padding});
      check_product(product, {space, false, false, false, padding});
    }
    check_product(product, {space, true, false, true, 8});
    check_product(product, {space, false, true, false, 8});
  }
}

struct Extent {
  int m;
  int n;
  int k;
};
const Extent kExtents[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};

TEST(WarpMatrix, HalfPrecision) {
  for (const auto& [m, n, k] : kExtents) {
    for (const Element& c : {kF16, kF32}) {
      for (const Element& d : {kF16, kF32}) {
        check_variants(
            {m, n, k, kF16, kF16, c, d, "." + d.name + "." + c.name});
      }
    }
  }
}

TEST(WarpMatrix, Bfloat16) {
  for (const auto& [m, n, k] : kExtents) {
    check_variants({m, n, k, kBf16, kBf16, kF32, kF32, ".f32.bf16.bf16.f32"});
  }
}

TEST(WarpMatrix, Bytes) {
  for (const auto& [m, n, k] : kExtents) {
    for (const Element& ab : {kS8, kU8}) {
      const std::string types = ".s32." + ab.name + "." + ab.name + ".s32";
      check_variants({m, n, k, ab, ab, kS32, kS32, types});
      check_variants(
          {m, n, k, ab, ab, kLargeS32, kLargeS32, types, ".satfinite"});
    }
  }
}

TEST(WarpMatrix, Tf32) {
  check_variants({16, 16, 8, kTf32, kTf32, kF32, kF32, ".f32.tf32.tf32.f32"});
}

TEST(WarpMatrix, DoublePrecision) {
  for (const char* rounding : {"", ".rn"}) {
    check_variants(
        {8, 8, 4, kF64, kF64, kF64, kF64, ".f64.f64.f64.f64", rounding});
  }
}

TEST(WarpMatrix, AnAddressOutsideOfAllMemoryIsAFault) {
  TestDevice device;
  device.load(
      ".visible .entry kernel(.param .u64 a) {\n.reg .b32 %a<8>;\n"
      ".reg .b64 %p;\nld.param.u64 %p, [a];\n"
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " +
      list("a", 8) + ", [%p], 16;\nret;\n}\n");
  const Outcome outcome =
      device.run("kernel", Shape{}, device.zeros<unsigned char>(16 * 32 - 2));
  EXPECT_EQ(outcome.fault, FaultKind::kIllegalAddress);
}

} // namespace
} // namespace cudasim::engine::testing
