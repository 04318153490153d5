#include "runtime/code/ptx/lexer.h"

#include <array>
#include <charconv>

#include "runtime/code/ptx/block_scan.h"

namespace accelerator::ptx {
namespace {

enum CharacterClass : std::uint8_t {
  kNothing = 0,
  kBlank = 1,
  kLetter = 2, // may begin a name, but for "%", "$", "_" see kMark
  kDigit = 4,
  kMark = 8, // begins a name too
  kSignCharacter = 16,
};

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\r', '\n', '\f', '\v'}) {
    classes[static_cast<unsigned char>(c)] = kBlank;
  }
  for (int c = 'a'; c <= 'z'; ++c) {
    classes[c] = kLetter;
    classes[c - 'a' + 'A'] = kLetter;
  }
  for (int c = '0'; c <= '9'; ++c) {
    classes[c] = kDigit;
  }
  for (char c : {'%', '$', '_'}) {
    classes[static_cast<unsigned char>(c)] = kMark;
  }
  for (char c : {'{', '}', '(', ')', '[', ']', '<', '>', ',', ';', ':', '@',
                 '!', '=', '+', '-', '*', '/', '|', '&', '^', '~', '?'}) {
    classes[static_cast<unsigned char>(c)] = kSignCharacter;
  }
  return classes;
}

constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool is_a(char c, int classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

// "%" alone is the remainder operator of constant expressions; names never go
// on with it. "%7" is a name, so 5%7 is no expression, as ptxas has it.
bool continues_name(char c) {
  return is_a(c, kLetter | kDigit) || c == '_' || c == '$';
}

bool is_operator_pair(char first, char second) {
  switch (first) {
    case '<':
      return second == '<' || second == '=';
    case '>':
      return second == '>' || second == '=';
    case '=':
    case '!':
      return second == '=';
    case '&':
    case '|':
      return second == first;
    default:
      return false;
  }
}

// A number reaches over letters and digits, one point, and the sign of a
// decimal exponent; what it is worth is found out by who reads it.
std::size_t number_length(std::string_view text) {
  bool is_decimal =
      !(text.size() > 1 && text[0] == '0' && is_a(text[1], kLetter) &&
        text[1] != 'e' && text[1] != 'E');
  std::size_t length = 0;
  while (length < text.size()) {
    char c = text[length];
    if (is_a(c, kLetter | kDigit)) {
      ++length;
    } else if (is_decimal && c == '.') {
      ++length;
    } else if (
        is_decimal && (c == '+' || c == '-') && length > 0 &&
        (text[length - 1] == 'e' || text[length - 1] == 'E')) {
      ++length;
    } else {
      break;
    }
  }
  return length;
}

// All of `digits` in `base`; false when they are none or too many.
bool integer_digits(std::string_view digits, int base, std::uint64_t& value) {
  const char* end = digits.data() + digits.size();
  auto result = std::from_chars(digits.data(), end, value, base);
  return result.ec == std::errc() && result.ptr == end;
}

} // namespace

bool integer_of(std::string_view text, std::uint64_t& value) {
  if (!text.empty() && text.back() == 'U') {
    text.remove_suffix(1);
  }
  if (text.size() < 2 || text[0] != '0') {
    return integer_digits(text, 10, value);
  }
  if (text[1] == 'x' || text[1] == 'X') {
    return integer_digits(text.substr(2), 16, value);
  }
  if (text[1] == 'b' || text[1] == 'B') {
    return integer_digits(text.substr(2), 2, value);
  }
  return integer_digits(text.substr(1), 8, value);
}

Lexer::Lexer(
    std::string_view text,
    std::string_view source_name,
    std::size_t begin,
    Location at)
    : text_(text),
      source_name_(source_name),
      position_(begin),
      line_start_(begin - (at.column - 1)),
      line_(at.line) {}

Location Lexer::here() const {
  return {line_, static_cast<std::uint32_t>(position_ - line_start_ + 1)};
}

void Lexer::fail(const Token& found, std::string_view expected) const {
  ptx::fail(source_name_, found.location, found.text, expected);
}

Token Lexer::take(Token::Kind kind, std::size_t length) {
  Token token{kind, text_.substr(position_, length), here()};
  position_ += length;
  return token;
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '\n') {
      ++position_;
      ++line_;
      line_start_ = position_;
    } else if (is_a(c, kBlank)) {
      ++position_;
    } else if (c == '/' && position_ + 1 < text_.size()) {
      char second = text_[position_ + 1];
      if (second == '/') {
        skip_line();
      } else if (second == '*') {
        std::size_t end = text_.find("*/", position_ + 2);
        if (end == std::string_view::npos) {
          fail(take(Token::Kind::kSign, 2), "a comment that ends with '*/'");
        }
        for (; position_ < end; ++position_) {
          if (text_[position_] == '\n') {
            ++line_;
            line_start_ = position_ + 1;
          }
        }
        position_ = end + 2;
      } else {
        return;
      }
    } else {
      return;
    }
  }
}

void Lexer::skip_line() {
  std::size_t end = text_.find('\n', position_);
  position_ = end == std::string_view::npos ? text_.size() : end;
}

Token Lexer::next() {
  skip_blanks();
  if (position_ >= text_.size()) {
    return take(Token::Kind::kEnd, 0);
  }
  std::string_view rest = text_.substr(position_);
  char c = rest[0];
  if (is_a(c, kLetter | kMark)) {
    std::size_t length = 1;
    while (length < rest.size() && continues_name(rest[length])) {
      ++length;
    }
    if (c == '%' && length == 1) {
      return take(Token::Kind::kSign, 1);
    }
    return take(Token::Kind::kName, length);
  }
  if (is_a(c, kDigit)) {
    return take(Token::Kind::kNumber, number_length(rest));
  }
  if (c == '.') {
    // ".5" is a number unless the dot hangs on a word, as in "tex.2d".
    if (rest.size() > 1 && is_a(rest[1], kDigit) &&
        (position_ == 0 || !continues_name(text_[position_ - 1]))) {
      return take(Token::Kind::kNumber, number_length(rest));
    }
    std::size_t length = 1;
    while (length < rest.size()) {
      if (continues_name(rest[length])) {
        ++length;
      } else if (
          length > 1 && length + 2 < rest.size() && rest[length] == ':' &&
          rest[length + 1] == ':' && continues_name(rest[length + 2])) {
        length += 3;
      } else {
        break;
      }
    }
    if (length == 1) {
      fail(take(Token::Kind::kSign, 1), "a name after the dot");
    }
    return take(Token::Kind::kDot, length);
  }
  if (c == '"') {
    std::size_t end = rest.find_first_of("\"\n", 1);
    if (end == std::string_view::npos || rest[end] == '\n') {
      fail(
          take(Token::Kind::kSign, 1),
          "a string that ends with '\"' on its line");
    }
    return take(Token::Kind::kString, end + 1);
  }
  if (is_a(c, kSignCharacter)) {
    bool pair = rest.size() > 1 && is_operator_pair(c, rest[1]);
    return take(Token::Kind::kSign, pair ? 2 : 1);
  }
  fail(take(Token::Kind::kSign, 1), "PTX");
}

std::size_t Lexer::skip_block(const Token& opening) {
  BlockEnd end = find_block_end(text_, position_);
  if (!end.found) {
    fail(opening, "a '}' that closes it");
  }
  if (end.lines > 0) {
    line_ += end.lines;
    line_start_ = end.line_start;
  }
  position_ = end.offset;
  return end.offset;
}

} // namespace accelerator::ptx
