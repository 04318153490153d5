#include "cudasim/engine/translation/ir/ir_writer.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace cudasim::engine {

std::string type_of(int bits, bool vector) {
  const std::string scalar = "i" + std::to_string(bits);
  return vector ? "<32 x " + scalar + ">" : scalar;
}

std::string float_type_of(int bits, bool vector) {
  const std::string scalar = bits == 64 ? "double" : "float";
  return vector ? "<32 x " + scalar + ">" : scalar;
}

std::string integer_constant(const std::string& number, int bits, bool vector) {
  return vector ? "splat (" + type_of(bits, false) + " " + number + ")"
                : number;
}

std::string real_constant(double number, int bits, bool vector) {
  // Its bits as a double, of either width.
  std::uint64_t word = 0;
  std::memcpy(&word, &number, sizeof(word));
  char text[19];
  std::snprintf(text, sizeof(text), "0x%016" PRIX64, word);
  return vector ? "splat (" + float_type_of(bits, false) + " " + text + ")"
                : text;
}

std::string ramp(int bits, const ValueShape& shape) {
  const std::string type = type_of(bits, false);
  std::string text = "<";
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t wide = static_cast<std::uint64_t>(shape.stride) *
            static_cast<std::uint64_t>(lane % kRowLanes) +
        static_cast<std::uint64_t>(shape.row) *
            static_cast<std::uint64_t>(lane / kRowLanes);
    const std::uint64_t cut =
        bits == 64 ? wide : wide & ((std::uint64_t{1} << bits) - 1);
    text += (lane == 0 ? "" : ", ") + type + " " + std::to_string(cut);
  }
  return text + ">";
}

std::string vector_of(int count, const std::string& scalar) {
  return "<" + std::to_string(count) + " x " + scalar + ">";
}

std::string IrWriter::lanes_of(const Value& value) {
  if (!value.shape.affine) {
    return value.text;
  }
  const std::string scalar = type_of(value.bits, false);
  const std::string vector = type_of(value.bits, true);
  if (value.literal() && value.shape.uniform()) {
    return integer_constant(value.text, value.bits, true);
  }
  const std::string first =
      set("insertelement " + vector + " poison, " + scalar + " " + value.text +
          ", i64 0");
  const std::string all =
      set("shufflevector " + vector + " " + first + ", " + vector +
          " poison, <32 x i32> zeroinitializer");
  return value.shape.uniform()
      ? all
      : set("add " + vector + " " + all + ", " + ramp(value.bits, value.shape));
}

std::string IrWriter::resized(
    const std::string& text,
    int from,
    int to,
    bool is_signed,
    bool vector) {
  if (from == to) {
    return text;
  }
  const std::string op = to < from ? "trunc " : is_signed ? "sext " : "zext ";
  return set(
      op + type_of(from, vector) + " " + text + " to " + type_of(to, vector));
}

} // namespace cudasim::engine
