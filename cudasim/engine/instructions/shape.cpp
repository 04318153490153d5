#include "cudasim/engine/instructions/shape.h"

#include <charconv>
#include <stdexcept>
#include <string>

namespace cudasim::engine {
namespace {

using ptx::Space;
using ptx::Type;

/// Reads one operand after the other.
class ShapeReader {
 public:
  ShapeReader(std::string_view text, const std::vector<Type>& types)
      : whole_(text), text_(text), types_(types) {}

  Shape read() {
    Shape shape;
    shape.warp_wide = accept("warp:");
    shape.orders = accept("orders:");
    for (skip_blanks(); !text_.empty(); skip_blanks()) {
      shape.operands.push_back(operand());
      if (!text_.empty() && text_.front() != ' ') {
        fail();
      }
    }
    return shape;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::logic_error(
        "operands '" + std::string(whole_) + "' at '" + std::string(text_) +
        "'");
  }

  void skip_blanks() {
    while (accept(" ")) {
    }
  }

  bool accept(std::string_view word) {
    if (text_.substr(0, word.size()) != word) {
      return false;
    }
    text_.remove_prefix(word.size());
    return true;
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) {
      fail();
    }
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }

  bool at_digit() const {
    return !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
  }

  std::string_view name() {
    std::size_t length = 0;
    while (length < text_.size() &&
           ((text_[length] >= 'a' && text_[length] <= 'z') ||
            (text_[length] >= '0' && text_[length] <= '9'))) {
      ++length;
    }
    const std::string_view word = text_.substr(0, length);
    text_.remove_prefix(length);
    return word;
  }

  Type key_type(std::size_t index) const {
    if (index >= types_.size()) {
      fail();
    }
    return types_[index];
  }

  static Type twice(Type type) {
    switch (type) {
      case Type::kU16:
        return Type::kU32;
      case Type::kS16:
        return Type::kS32;
      case Type::kU32:
        return Type::kU64;
      case Type::kS32:
        return Type::kS64;
      default:
        return Type::kNone;
    }
  }

  Type type() {
    const std::string_view word = name();
    Type found = Type::kNone;
    if (word == "t") {
      found = types_.empty() ? Type::kNone : types_.back();
    } else if (word == "wide") {
      found = types_.empty() ? Type::kNone : twice(types_.back());
    } else if (word.size() == 2 && word[0] == 't' && word[1] <= '9') {
      found = key_type(static_cast<std::size_t>(word[1] - '1'));
    } else {
      found = ptx::type_named(word);
    }
    if (found == Type::kNone) {
      fail();
    }
    return found;
  }

  Space space() {
    const std::string_view word = name();
    for (const auto& [known, space] :
         {std::pair<std::string_view, Space>{"generic", Space::kNone},
          {"global", Space::kGlobal},
          {"const", Space::kConst},
          {"shared", Space::kShared},
          {"local", Space::kLocal},
          {"param", Space::kParam}}) {
      if (known == word) {
        return space;
      }
    }
    fail();
  }

  void constants(OperandShape& shape) {
    shape.low = number();
    if (accept("..")) {
      shape.high = number();
      shape.step = accept("/") ? number() : 1;
      return;
    }
    shape.choices = {shape.low};
    shape.low = 0;
    while (accept("|")) {
      shape.choices.push_back(number());
    }
  }

  OperandShape value() {
    OperandShape shape;
    shape.constant = accept("#");
    shape.written = accept("=");
    if (accept("members")) {
      shape.members = true;
      shape.type = Type::kB32;
      return shape;
    }
    shape.type = type();
    for (bool more = true; more;) {
      more = true;
      if (accept("~")) {
        shape.relaxed = true;
      } else if (accept("_")) {
        shape.may_discard = true;
      } else if (accept("!")) {
        shape.variable = true;
      } else if (accept("%")) {
        shape.special = true;
      } else if (accept("&")) {
        shape.symbol = true;
        const std::string_view before = text_;
        if (!name().empty()) {
          text_ = before;
          shape.symbol_space = space();
        }
      } else {
        more = false;
      }
    }
    if (accept(":")) {
      constants(shape);
    }
    shape.alone = accept("|-");
    shape.paired = shape.alone || accept("|pred");
    shape.needs_pair = shape.paired && accept("!");
    return shape;
  }

  OperandShape address() {
    OperandShape shape;
    shape.kind = OperandShape::Kind::kAddress;
    shape.reads = accept("<");
    shape.writes = accept(">");
    if (!accept("[")) {
      fail();
    }
    shape.space = space();
    if (accept(":")) {
      if (accept("#")) {
        shape.size_operand = static_cast<int>(number());
      } else {
        std::uint64_t count = at_digit() ? number() : 1;
        if (accept("x")) {
          shape.lines = static_cast<std::uint32_t>(count);
          count = number();
        }
        if (accept("*") || count == 1) {
          shape.type = type();
          count *= ptx::size_of(shape.type);
        }
        shape.bytes = static_cast<std::uint32_t>(count);
        shape.parts = accept("/") ? static_cast<std::uint32_t>(number()) : 1;
      }
      if (accept("@")) {
        shape.lanes = static_cast<std::uint32_t>(number());
      }
    }
    if (!accept("]")) {
      fail();
    }
    return shape;
  }

  OperandShape object() {
    OperandShape shape;
    shape.kind = OperandShape::Kind::kObject;
    if (accept(":")) {
      shape.layered = accept("layer+");
      shape.coordinates = static_cast<std::uint32_t>(number());
      if (!accept("*")) {
        fail();
      }
      shape.type = type();
    }
    if (!accept("]")) {
      fail();
    }
    return shape;
  }

  OperandShape operand() {
    OperandShape shape;
    if (accept("{")) {
      const auto count = static_cast<std::uint32_t>(number());
      if (!accept("*")) {
        fail();
      }
      shape = value();
      shape.vector = count;
      if (!accept("}")) {
        fail();
      }
      shape.paired = accept("|pred");
    } else if (accept("[object")) {
      shape = object();
    } else if (text_.find_first_of("<>[") == 0) {
      shape = address();
    } else if (accept("label")) {
      shape.kind = OperandShape::Kind::kLabel;
    } else if (accept("targets")) {
      shape.kind = OperandShape::Kind::kTargets;
    } else {
      shape = value();
    }
    shape.optional = accept("?");
    return shape;
  }

  std::string_view whole_;
  std::string_view text_;
  const std::vector<Type>& types_;
};

} // namespace

Shape parse_shape(
    std::string_view operands,
    const std::vector<ptx::Type>& types) {
  // What most of arithmetic has.
  if (operands == "unary") {
    operands = "=t t";
  } else if (operands == "binary") {
    operands = "=t t t";
  } else if (operands == "ternary") {
    operands = "=t t t t";
  }
  return ShapeReader(operands, types).read();
}

} // namespace cudasim::engine
