#include "cudasim/ptx/operands.h"

#include <string>
#include <utility>

#include "cudasim/ptx/constants.h"
#include "cudasim/ptx/special_registers.h"

namespace cudasim::ptx {
namespace {

// ".x" of a vector, ".b2" or ".h1" of a video instruction; 0: neither.
char component_named(std::string_view dot) {
  constexpr std::string_view kLetters = "xyzwrgba";
  if (dot.size() == 2 && kLetters.find(dot[1]) != std::string_view::npos) {
    return dot[1];
  }
  if (dot.size() == 3 && dot[1] == 'b' && dot[2] >= '0' && dot[2] <= '3') {
    return dot[2];
  }
  if (dot == ".h0") {
    return 'l';
  }
  return dot == ".h1" ? 'h' : '\0';
}

class Operands {
 public:
  explicit Operands(Reader& reader) : reader_(reader) {}

  Operand operand() {
    Nesting nesting(reader_, depth_);
    if (reader_.at('[')) {
      return address();
    }
    if (reader_.at('{')) {
      Operand result = vector();
      return reader_.accept('|') ? paired(std::move(result)) : result;
    }
    Location location = reader_.current().location;
    if ((reader_.at('!') || reader_.at('-')) && reader_.ahead().is_name() &&
        !reader_.ahead().is("WARP_SZ")) {
      reader_.take();
      Operand result = named();
      result.negated = true;
      result.location = location;
      return result;
    }
    if (begins_constant(reader_)) {
      return operand_of(constant_expression(reader_), location);
    }
    Operand result = named();
    if (reader_.accept('|')) {
      if (result.kind == Operand::Kind::kSink && reader_.at("_")) {
        reader_.fail("a register beside '_'");
      }
      result.location = location;
      return paired(std::move(result));
    }
    if (result.kind == Operand::Kind::kSymbol && reader_.accept('[')) {
      return element(std::move(result));
    }
    if (result.kind == Operand::Kind::kSymbol) {
      result.offset = offset();
    }
    return result;
  }

  Operand initial_value() {
    Location location = reader_.current().location;
    if (!begins_constant(reader_)) {
      return symbol_address();
    }
    if (reader_.current().kind == Token::Kind::kNumber &&
        reader_.ahead().is('(')) {
      return byte_of_address();
    }
    return operand_of(constant_expression(reader_), location);
  }

 private:
  // A register, special register, symbol or "_".
  Operand named() {
    Token token = reader_.expect_name("an operand");
    Operand result;
    result.location = token.location;
    if (token.text == "_") {
      return result;
    }
    result.name = token.text;
    if (token.text[0] != '%') {
      result.kind = Operand::Kind::kSymbol;
    } else if (special_register_type(token.text) != Type::kNone) {
      result.kind = Operand::Kind::kSpecialRegister;
    } else {
      result.kind = Operand::Kind::kRegister;
    }
    if (reader_.current().is_dot()) {
      result.component = component_named(reader_.current().text);
      if (result.component == '\0') {
        reader_.fail("a component such as '.x'");
      }
      reader_.take();
    }
    return result;
  }

  // "d|p"; the "|" is taken.
  Operand paired(Operand first) {
    Operand pair;
    pair.kind = Operand::Kind::kPair;
    pair.location = first.location;
    pair.elements.push_back(std::move(first));
    pair.elements.push_back(named());
    return pair;
  }

  // "name[2]", "name[%r1]", "name[%r1+2]"; the name and the "[" are taken.
  Operand element(Operand array) {
    array.kind = Operand::Kind::kElement;
    Token first = reader_.current();
    if (begins_constant(reader_)) {
      const Constant index = constant_expression(reader_);
      if (index.is_float) {
        reader_.fail(first, "an index that is an integer");
      }
      array.elements.push_back(operand_of(index, first.location));
    } else {
      array.elements.push_back(named());
      array.offset = offset();
    }
    reader_.expect(']');
    return array;
  }

  // "+ 4", "+ -4"; 0 when there is none.
  std::int64_t offset() {
    Token sign = reader_.current();
    if (!reader_.accept('+')) {
      return 0;
    }
    Constant value = constant_expression(reader_);
    if (value.is_float) {
      reader_.fail(sign, "an offset that is an integer");
    }
    return static_cast<std::int64_t>(value.bits);
  }

  Operand address() {
    Operand result;
    result.kind = Operand::Kind::kAddress;
    result.location = reader_.current().location;
    reader_.expect('[');
    Location location = reader_.current().location;
    if (begins_constant(reader_)) {
      result.elements.push_back(
          operand_of(constant_expression(reader_), location));
    } else {
      result.elements.push_back(named());
      result.offset = offset();
    }
    // Textures and tensor copies have coordinates.
    while (reader_.accept(',')) {
      result.elements.push_back(operand());
    }
    reader_.expect(']');
    return result;
  }

  Operand vector() {
    Operand result;
    result.kind = Operand::Kind::kVector;
    result.location = reader_.current().location;
    reader_.expect('{');
    do {
      result.elements.push_back(operand());
    } while (reader_.accept(','));
    reader_.expect('}');
    return result;
  }

  // "0xFF00(sym)": the byte of an address that the mask shows.
  Operand byte_of_address() {
    Token token = reader_.take();
    const std::uint64_t mask = number(reader_, token).bits;
    if (mask == 0 ||
        mask != std::uint64_t{0xFF} << (__builtin_ctzll(mask) / 8 * 8)) {
      reader_.fail(token, "a mask of one byte, such as 0xFF00");
    }
    reader_.expect('(');
    Operand result = symbol_address();
    reader_.expect(')');
    result.bits = mask;
    return result;
  }

  // sym, generic(sym), with an offset: device addresses are generic ones here,
  // so both mean the same.
  Operand symbol_address() {
    Token token = reader_.expect_name("an initial value");
    bool generic = token.is("generic") && reader_.accept('(');
    if (generic) {
      token = reader_.expect_name("a variable or function");
      reader_.expect(')');
    }
    Operand result;
    result.kind = Operand::Kind::kSymbol;
    result.location = token.location;
    result.name = token.text;
    result.offset = offset();
    return result;
  }

  Reader& reader_;
  int depth_ = 0;
};

} // namespace

Operand parse_operand(Reader& reader) {
  return Operands(reader).operand();
}

std::vector<Operand> parse_operands(Reader& reader) {
  std::vector<Operand> operands;
  do {
    operands.push_back(parse_operand(reader));
  } while (reader.accept(','));
  return operands;
}

Operand parse_initial_value(Reader& reader) {
  return Operands(reader).initial_value();
}

} // namespace cudasim::ptx
