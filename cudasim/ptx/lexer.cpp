#include "cudasim/ptx/lexer.h"

#include <array>
#include <cstring>

#include "cudasim/ptx/block_scan.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::ptx {
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

// "%" alone and before a digit is the remainder operator of constant
// expressions; names never go on with it.
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
// decimal exponent; what it is worth is found out in constants.cpp.
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

// Printable and short, whatever the text holds.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result;
  for (char c : text.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      auto byte = static_cast<unsigned char>(c);
      result += "\\x";
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
    }
  }
  if (text.size() > kLongest) {
    result += "...";
  }
  return result;
}

} // namespace

namespace {

std::string position(std::string_view source, Location location) {
  return std::string(source) + ':' + std::to_string(location.line) + ':' +
      std::to_string(location.column) + ": found ";
}

} // namespace

void fail(
    std::string_view source,
    Location location,
    std::string_view found,
    std::string_view expected) {
  throw ParseError(
      position(source, location) + '\'' + shown(found) + "', expected " +
          std::string(expected),
      location);
}

void fail(
    std::string_view source,
    const Token& found,
    std::string_view expected) {
  if (found.kind != Token::Kind::kEnd) {
    fail(source, found.location, found.text, expected);
  }
  throw ParseError(
      position(source, found.location) + "the end of the text, expected " +
          std::string(expected),
      found.location);
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
          fail(
              source_name_,
              take(Token::Kind::kSign, 2),
              "a comment that ends with '*/'");
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
    return {Token::Kind::kEnd, {}, here()};
  }
  std::string_view rest = text_.substr(position_);
  char c = rest[0];
  if (is_a(c, kLetter | kMark)) {
    std::size_t length = 1;
    while (length < rest.size() && continues_name(rest[length])) {
      ++length;
    }
    if (c == '%' && (length == 1 || is_a(rest[1], kDigit))) {
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
      fail(source_name_, take(Token::Kind::kSign, 1), "a name after the dot");
    }
    return take(Token::Kind::kDot, length);
  }
  if (c == '"') {
    std::size_t end = rest.find_first_of("\"\n", 1);
    if (end == std::string_view::npos || rest[end] == '\n') {
      fail(
          source_name_,
          take(Token::Kind::kSign, 1),
          "a string that ends with '\"' on its line");
    }
    return take(Token::Kind::kString, end + 1);
  }
  if (is_a(c, kSignCharacter)) {
    bool pair = rest.size() > 1 && is_operator_pair(c, rest[1]);
    return take(Token::Kind::kSign, pair ? 2 : 1);
  }
  fail(source_name_, take(Token::Kind::kSign, 1), "PTX");
}

std::size_t Lexer::skip_block(const Token& opening) {
  BlockEnd end = find_block_end(text_, position_);
  if (!end.found) {
    fail(source_name_, opening, "a '}' that closes it");
  }
  if (end.lines > 0) {
    line_ += end.lines;
    line_start_ = end.line_start;
  }
  position_ = end.offset;
  return end.offset;
}

} // namespace cudasim::ptx
