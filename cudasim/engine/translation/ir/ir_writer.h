// Writes LLVM's intermediate representation as text (LLVM Language Reference).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cudasim/engine/translation/ir/value.h"

namespace cudasim::engine {

/// "i32", or "<32 x i32>" for the lanes.
std::string type_of(int bits, bool vector);
/// The same of floats: "float", "double".
std::string float_type_of(int bits, bool vector);
/// An integer's constant, or that of all lanes.
std::string integer_constant(const std::string& number, int bits, bool vector);
/// A float's constant, or that of all lanes.
std::string real_constant(double number, int bits, bool vector);
/// A constant vector: what the lanes of an affine value have beyond its base,
/// cut to `bits`.
std::string ramp(int bits, const ValueShape& shape);

/// "<16 x i32>", of any scalar type.
std::string vector_of(int count, const std::string& scalar);

/// "<i32 number(0), …>": a constant vector.
template <typename Number>
std::string list(int count, Number number, const std::string& scalar = "i32") {
  std::string text = "<";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + scalar + " " + std::to_string(number(i));
  }
  return text + ">";
}

/// "<32 x i32> <i32 pick(0), …>", as shufflevector takes it.
template <typename Pick>
std::string picks(int count, Pick pick) {
  return vector_of(count, "i32") + " " + list(count, pick);
}

class IrWriter {
 public:
  /// A name that is new.
  std::string name() {
    return "%t" + std::to_string(++count_);
  }
  std::string label() {
    return "l" + std::to_string(++count_);
  }
  void line(const std::string& text) {
    *out_ += "  " + text + "\n";
  }
  void begin(const std::string& label) {
    *out_ += label + ":\n";
  }
  /// "%t1 = " and the text. @returns the name.
  std::string set(const std::string& text) {
    std::string result = name();
    line(result + " = " + text);
    return result;
  }
  /// An operation of two values of one type.
  std::string binary(
      const std::string& operation,
      const std::string& type,
      const std::string& a,
      const std::string& b) {
    return set(operation + " " + type + " " + a + ", " + b);
  }
  void jump(const std::string& label) {
    line("br label %" + label);
  }
  void branch(
      const std::string& condition,
      const std::string& then,
      const std::string& otherwise) {
    line("br i1 " + condition + ", label %" + then + ", label %" + otherwise);
  }
  /// A variable of the function; LLVM keeps it in a register.
  void variable(const std::string& name, const std::string& type) {
    variables_ += "  " + name + " = alloca " + type + "\n";
  }
  /// What a variable holds, or memory at an address.
  std::string load(const std::string& type, const std::string& from) {
    return set("load " + type + ", ptr " + from);
  }
  /// Gives a variable its value, or memory at an address.
  void store(
      const std::string& type,
      const std::string& value,
      const std::string& to) {
    line("store " + type + " " + value + ", ptr " + to);
  }
  /// The address `offset` bytes behind a pointer.
  std::string at(const std::string& pointer, std::uint64_t offset) {
    return set(
        "getelementptr i8, ptr " + pointer + ", i64 " + std::to_string(offset));
  }
  /// The lanes of a value as a vector.
  std::string lanes_of(const Value& value);
  /// An integer, or one a lane, of another width: cut, or extended.
  std::string resized(
      const std::string& text,
      int from,
      int to,
      bool is_signed,
      bool vector);
  /// All lanes as one word: of a vector of bits.
  std::string mask_of(const std::string& bits) {
    return set("bitcast <32 x i1> " + bits + " to i32");
  }
  std::string bits_of(const std::string& mask) {
    return set("bitcast i32 " + mask + " to <32 x i1>");
  }

  /// What is written goes here.
  void to(std::string* out) {
    out_ = out;
  }
  std::string* out() {
    return out_;
  }
  const std::string& variables() const {
    return variables_;
  }
  void clear() {
    count_ = 0;
    variables_.clear();
  }

 private:
  std::uint64_t count_ = 0;
  std::string variables_;
  std::string* out_ = nullptr;
};

} // namespace cudasim::engine
