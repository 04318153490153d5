#include "accelerator/runtime/linker/scanner.h"

#include <algorithm>

namespace accelerator::linker {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
      c == '$' || c == '%';
}

bool continues_name(char c) {
  return (begins_name(c) && c != '%') || is_digit(c);
}

std::size_t name_length(std::string_view rest) {
  std::size_t length = 1;
  while (length < rest.size() && continues_name(rest[length])) {
    ++length;
  }
  return length;
}

// 7, 0x1F, 1.5, 0f3F800000. A sign in an exponent is left to the next token.
std::size_t number_length(std::string_view rest) {
  std::size_t length = 1;
  while (length < rest.size() &&
         (continues_name(rest[length]) || rest[length] == '.')) {
    ++length;
  }
  return length;
}

// A directive or modifier, which may have "::" in it.
std::size_t dot_length(std::string_view rest) {
  std::size_t length = name_length(rest);
  while (length + 2 < rest.size() && rest[length] == ':' &&
         rest[length + 1] == ':' && continues_name(rest[length + 2])) {
    length += 2 + name_length(rest.substr(length + 2));
  }
  return length;
}

std::size_t string_length(std::string_view rest) {
  const std::size_t end = rest.find('"', 1);
  return end == std::string_view::npos ? rest.size() : end + 1;
}

} // namespace

void Scanner::skip_line() {
  position_ = std::min(text_.find('\n', position_), text_.size());
}

void Scanner::skip_blanks() {
  while (position_ < text_.size()) {
    const std::string_view rest = text_.substr(position_);
    if (rest.substr(0, 2) == "//") {
      skip_line();
    } else if (rest.substr(0, 2) == "/*") {
      const std::size_t end = text_.find("*/", position_ + 2);
      position_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (rest[0] == ' ' || (rest[0] >= '\t' && rest[0] <= '\r')) {
      ++position_;
    } else {
      return;
    }
  }
}

Token Scanner::next() {
  skip_blanks();
  Token token;
  const std::string_view rest = text_.substr(position_);
  std::size_t length = rest.empty() ? 0 : 1;
  const char second = rest.size() > 1 ? rest[1] : '\0';
  if (rest.empty()) {
    token.kind = Token::Kind::kEnd;
  } else if (begins_name(rest[0]) && (rest[0] != '%' || begins_name(second))) {
    token.kind = Token::Kind::kName;
    length = name_length(rest);
  } else if (is_digit(rest[0])) {
    token.kind = Token::Kind::kNumber;
    length = number_length(rest);
  } else if (rest[0] == '.' && begins_name(second)) {
    token.kind = Token::Kind::kDot;
    length = dot_length(rest);
  } else if (rest[0] == '"') {
    token.kind = Token::Kind::kString;
    length = string_length(rest);
  } else {
    token.kind = Token::Kind::kSign;
  }
  token.range = {position_, position_ + length};
  token.text = rest.substr(0, length);
  position_ += length;
  return token;
}

} // namespace accelerator::linker
