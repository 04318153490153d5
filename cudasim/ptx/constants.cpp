#include "cudasim/ptx/constants.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include <locale.h>

namespace cudasim::ptx {
namespace {

template <class To, class From>
To bit_copy(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

Constant of_double(double value) {
  Constant constant;
  constant.is_float = true;
  constant.bits = bit_copy<std::uint64_t>(value);
  return constant;
}

Constant of_integer(std::uint64_t bits, bool is_unsigned) {
  Constant constant;
  constant.bits = bits;
  constant.is_unsigned = is_unsigned;
  return constant;
}

// The program's own locale may write a comma for the point.
locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

// One operator of two operands: its text and how tightly it binds.
struct Binary {
  std::string_view text;
  int precedence;
};

// PTX ISA 4.5.4, table of operators; the ternary one is below all of these.
constexpr Binary kBinary[] = {
    {"*", 10},
    {"/", 10},
    {"%", 10},
    {"+", 9},
    {"-", 9},
    {">>", 8},
    {"<<", 8},
    {"<", 7},
    {">", 7},
    {"<=", 7},
    {">=", 7},
    {"==", 6},
    {"!=", 6},
    {"&", 5},
    {"^", 4},
    {"|", 3},
    {"&&", 2},
    {"||", 1},
};

const Binary* binary_at(const Reader& reader) {
  if (reader.current().kind != Token::Kind::kSign) {
    return nullptr;
  }
  for (const Binary& binary : kBinary) {
    if (reader.current().text == binary.text) {
      return &binary;
    }
  }
  return nullptr;
}

// Values and types are those that ptxas 13.5 gives, which are not always those
// of PTX ISA 4.5.5 (cudasim/engine/verify/ptxas/constants_test.py asks it): "%"
// and "~" are unsigned, the others go by their operands, shifts take the count
// modulo 64, and of "? :" the chosen value keeps its type.
class Expressions {
 public:
  explicit Expressions(Reader& reader) : reader_(reader) {}

  Constant ternary() {
    Nesting nesting(reader_, depth_);
    Token token = reader_.current();
    Constant condition = binary(1);
    if (!reader_.at('?')) {
      return condition;
    }
    demand_integer(condition, token);
    reader_.take();
    token = reader_.current();
    Constant first = ternary();
    demand_integer(first, token);
    reader_.expect(':');
    token = reader_.current();
    Constant second = ternary();
    demand_integer(second, token);
    return condition.bits == 0 ? second : first;
  }

 private:
  Constant unary() {
    Nesting nesting(reader_, depth_);
    Token token = reader_.current();
    if (reader_.accept('+')) {
      return positive(token);
    }
    if (reader_.accept('-')) {
      return negative(positive(token));
    }
    if (reader_.accept('!')) {
      return of_integer(integer(token).bits == 0 ? 1 : 0, false);
    }
    if (reader_.accept('~')) {
      return of_integer(~integer(token).bits, true);
    }
    if (reader_.accept('(')) {
      if (reader_.at(".s64") || reader_.at(".u64")) {
        bool is_unsigned = reader_.take().is(".u64");
        reader_.expect(')');
        return of_integer(integer(token).bits, is_unsigned);
      }
      Constant value = ternary();
      reader_.expect(')');
      return value;
    }
    if (reader_.accept("WARP_SZ")) {
      return of_integer(32, false);
    }
    if (token.kind != Token::Kind::kNumber) {
      reader_.fail("a constant");
    }
    reader_.take();
    return number(reader_, token);
  }

  Constant binary(int lowest) {
    Nesting nesting(reader_, depth_);
    Constant left = unary();
    while (const Binary* found = binary_at(reader_)) {
      if (found->precedence < lowest) {
        break;
      }
      Token token = reader_.take();
      Constant right = binary(found->precedence + 1);
      demand_double(left, token);
      demand_double(right, token);
      if (left.is_float != right.is_float) {
        reader_.fail(token, "an operator between constants of one type");
      }
      left = left.is_float ? floats(left, right, token)
                           : integers(left, right, token);
    }
    return left;
  }

  // What an operator with this sign is in front of.
  Constant positive(const Token& sign) {
    Constant value = unary();
    demand_double(value, sign);
    return value;
  }

  Constant integer(const Token& token) {
    Constant value = unary();
    demand_integer(value, token);
    return value;
  }

  void demand_integer(const Constant& value, const Token& token) const {
    if (value.is_float) {
      reader_.fail(token, "an operation on integers");
    }
  }

  // PTX ISA 4.5.2: those keep their 32 bits.
  void demand_double(const Constant& value, const Token& token) const {
    if (value.is_single) {
      reader_.fail(token, "no operator with a constant such as 0f3F800000");
    }
  }

  static Constant negative(Constant value) {
    value.bits =
        value.is_float ? value.bits ^ std::uint64_t{1} << 63 : 0 - value.bits;
    return value;
  }

  Constant floats(
      const Constant& left,
      const Constant& right,
      const Token& token) {
    const auto a = bit_copy<double>(left.bits);
    const auto b = bit_copy<double>(right.bits);
    std::string_view sign = token.text;
    if (sign == "+") {
      return of_double(a + b);
    }
    if (sign == "-") {
      return of_double(a - b);
    }
    if (sign == "*") {
      return of_double(a * b);
    }
    if (sign == "/") {
      // Said for division by zero, which C++ leaves open.
      if (b == 0) {
        reader_.fail(token, "a divisor other than zero");
      }
      return of_double(a / b);
    }
    bool answer = false;
    if (!compared(a, b, sign, answer)) {
      reader_.fail(token, "an operator for floating-point numbers");
    }
    return of_integer(answer ? 1 : 0, false);
  }

  Constant integers(
      const Constant& left,
      const Constant& right,
      const Token& token) {
    std::uint64_t a = left.bits;
    std::uint64_t b = right.bits;
    std::string_view sign = token.text;
    bool is_unsigned = left.is_unsigned || right.is_unsigned;
    if (sign == "+") {
      return of_integer(a + b, is_unsigned);
    }
    if (sign == "-") {
      return of_integer(a - b, is_unsigned);
    }
    if (sign == "*") {
      return of_integer(a * b, is_unsigned);
    }
    if (sign == "/" || sign == "%") {
      if (b == 0) {
        reader_.fail(token, "a divisor other than zero");
      }
      return sign == "%" ? of_integer(a % b, true)
                         : of_integer(quotient(a, b, is_unsigned), is_unsigned);
    }
    if (sign == "<<") {
      return of_integer(a << (b % 64), left.is_unsigned);
    }
    if (sign == ">>") {
      return of_integer(
          left.is_unsigned ? a >> (b % 64)
                           : static_cast<std::uint64_t>(
                                 static_cast<std::int64_t>(a) >> (b % 64)),
          left.is_unsigned);
    }
    if (sign == "&") {
      return of_integer(a & b, is_unsigned);
    }
    if (sign == "|") {
      return of_integer(a | b, is_unsigned);
    }
    if (sign == "^") {
      return of_integer(a ^ b, is_unsigned);
    }
    bool answer = false;
    if (sign == "&&") {
      answer = a != 0 && b != 0;
    } else if (sign == "||") {
      answer = a != 0 || b != 0;
    } else if (is_unsigned) {
      compared(a, b, sign, answer);
    } else {
      compared(
          static_cast<std::int64_t>(a),
          static_cast<std::int64_t>(b),
          sign,
          answer);
    }
    return of_integer(answer ? 1 : 0, false);
  }

  static std::uint64_t quotient(
      std::uint64_t a,
      std::uint64_t b,
      bool is_unsigned) {
    if (is_unsigned) {
      return a / b;
    }
    auto x = static_cast<std::int64_t>(a);
    auto y = static_cast<std::int64_t>(b);
    // The one quotient that may not fit.
    return y == -1 ? 0 - a : static_cast<std::uint64_t>(x / y);
  }

  template <class T>
  static bool compared(T a, T b, std::string_view sign, bool& answer) {
    if (sign == "<") {
      answer = a < b;
    } else if (sign == ">") {
      answer = a > b;
    } else if (sign == "<=") {
      answer = a <= b;
    } else if (sign == ">=") {
      answer = a >= b;
    } else if (sign == "==") {
      answer = a == b;
    } else if (sign == "!=") {
      answer = a != b;
    } else {
      return false;
    }
    return true;
  }

  Reader& reader_;
  int depth_ = 0;
};

} // namespace

Constant number(const Reader& reader, const Token& token) {
  std::string_view text = token.text;
  char prefix = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  std::uint64_t bits = 0;
  if (prefix == 'f' || prefix == 'F' || prefix == 'd' || prefix == 'D') {
    bool single = prefix == 'f' || prefix == 'F';
    const char* end = text.data() + text.size();
    if (text.size() != (single ? 10u : 18u) ||
        std::from_chars(text.data() + 2, end, bits, 16).ptr != end) {
      reader.fail(
          token,
          single ? "8 hexadecimal digits after '0f'"
                 : "16 hexadecimal digits after '0d'");
    }
    Constant constant;
    constant.is_float = true;
    constant.is_single = single;
    constant.bits = bits;
    return constant;
  }
  bool is_hexadecimal = prefix == 'x' || prefix == 'X';
  if (!is_hexadecimal && text.find_first_of(".eE") != std::string_view::npos) {
    // std::from_chars for a double is newer than what manylinux_2_28 has.
    const std::string terminated(text);
    char* end = nullptr;
    errno = 0;
    const double value = strtod_l(terminated.c_str(), &end, c_locale());
    // What a double has not, or not with all of its bits, ptxas refuses too.
    if (errno == ERANGE || end != terminated.c_str() + terminated.size()) {
      reader.fail(
          token,
          "a floating-point number that a normal double holds; smaller ones "
          "are written by their bits, such as 0d0000000000000001");
    }
    return of_double(value);
  }
  if (!integer_of(text, bits)) {
    reader.fail(token, "an integer of at most 64 bits");
  }
  // PTX ISA 4.5.1: what does not fit into .s64 is .u64.
  return of_integer(bits, text.back() == 'U' || (bits >> 63) != 0);
}

Constant constant_expression(Reader& reader) {
  return Expressions(reader).ternary();
}

bool begins_constant(const Reader& reader) {
  const Token& token = reader.current();
  return token.kind == Token::Kind::kNumber || token.is('(') || token.is('+') ||
      token.is('-') || token.is('~') || token.is('!') || token.is("WARP_SZ");
}

Operand operand_of(const Constant& constant, Location location) {
  Operand operand;
  operand.kind =
      constant.is_float ? Operand::Kind::kFloat : Operand::Kind::kInteger;
  operand.single = constant.is_single;
  operand.bits = constant.bits;
  operand.location = location;
  return operand;
}

} // namespace cudasim::ptx
