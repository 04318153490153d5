#include "cudasim/ptx/constants.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
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

bool is_zero(const Constant& constant) {
  return constant.is_float ? constant.as_double() == 0 : constant.bits == 0;
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

class Expressions {
 public:
  explicit Expressions(Reader& reader) : reader_(reader) {}

  Constant ternary() {
    Nesting nesting(reader_, depth_);
    Constant condition = binary(1);
    if (!reader_.accept('?')) {
      return condition;
    }
    Constant first = ternary();
    reader_.expect(':');
    Constant second = ternary();
    return is_zero(condition) ? second : first;
  }

  Constant unary() {
    Nesting nesting(reader_, depth_);
    Token token = reader_.current();
    if (reader_.accept('+')) {
      return unary();
    }
    if (reader_.accept('-')) {
      return negative(unary());
    }
    if (reader_.accept('!')) {
      return of_integer(is_zero(unary()) ? 1 : 0, false);
    }
    if (reader_.accept('~')) {
      Constant value = unary();
      if (value.is_float) {
        reader_.fail(token, "an operator for floating-point numbers");
      }
      value.bits = ~value.bits;
      return value;
    }
    if (reader_.accept('(')) {
      if (reader_.at(".s64") || reader_.at(".u64")) {
        bool is_unsigned = reader_.take().is(".u64");
        reader_.expect(')');
        Constant value = unary();
        if (value.is_float) {
          reader_.fail(token, "an integer to cast");
        }
        return of_integer(value.bits, is_unsigned);
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

 private:
  Constant binary(int lowest) {
    Nesting nesting(reader_, depth_);
    Constant left = unary();
    while (const Binary* found = binary_at(reader_)) {
      if (found->precedence < lowest) {
        break;
      }
      Token token = reader_.take();
      Constant right = binary(found->precedence + 1);
      left = left.is_float || right.is_float ? floats(left, right, token)
                                             : integers(left, right, token);
    }
    return left;
  }

  static Constant negative(Constant value) {
    if (!value.is_float) {
      value.bits = 0 - value.bits;
    } else if (value.is_single) {
      value.bits ^= std::uint64_t{1} << 31;
    } else {
      value.bits ^= std::uint64_t{1} << 63;
    }
    return value;
  }

  Constant floats(
      const Constant& left,
      const Constant& right,
      const Token& token) {
    double a = left.as_double();
    double b = right.as_double();
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
      return of_integer(divided(a, b, is_unsigned, sign == "/"), is_unsigned);
    }
    if (sign == "<<") {
      return of_integer(b < 64 ? a << b : 0, left.is_unsigned);
    }
    if (sign == ">>") {
      return of_integer(
          shifted_right(a, b, left.is_unsigned), left.is_unsigned);
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

  static std::uint64_t divided(
      std::uint64_t a,
      std::uint64_t b,
      bool is_unsigned,
      bool quotient) {
    if (is_unsigned) {
      return quotient ? a / b : a % b;
    }
    auto x = static_cast<std::int64_t>(a);
    auto y = static_cast<std::int64_t>(b);
    if (y == -1) { // the one quotient that may not fit
      return quotient ? 0 - a : 0;
    }
    return static_cast<std::uint64_t>(quotient ? x / y : x % y);
  }

  static std::uint64_t shifted_right(
      std::uint64_t a,
      std::uint64_t b,
      bool is_unsigned) {
    if (is_unsigned) {
      return b < 64 ? a >> b : 0;
    }
    auto x = static_cast<std::int64_t>(a);
    return static_cast<std::uint64_t>(x >> (b < 64 ? b : 63));
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

double Constant::as_double() const {
  if (is_single) {
    return bit_copy<float>(static_cast<std::uint32_t>(bits));
  }
  if (is_float) {
    return bit_copy<double>(bits);
  }
  return is_unsigned ? static_cast<double>(bits)
                     : static_cast<double>(static_cast<std::int64_t>(bits));
}

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
    // A number beyond the range of a double is none here either.
    const bool beyond = errno == ERANGE && (std::isinf(value) || value == 0);
    if (beyond || end != terminated.c_str() + terminated.size()) {
      reader.fail(token, "a floating-point number");
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

Constant constant_term(Reader& reader) {
  return Expressions(reader).unary();
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
