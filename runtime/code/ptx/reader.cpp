#include "runtime/code/ptx/reader.h"

namespace accelerator::ptx {

const Token& Reader::ahead() {
  if (!has_ahead_) {
    ahead_ = lexer_.next();
    has_ahead_ = true;
  }
  return ahead_;
}

Token Reader::take() {
  last_ = current_;
  if (has_ahead_) {
    current_ = ahead_;
    has_ahead_ = false;
  } else {
    current_ = lexer_.next();
  }
  return last_;
}

bool Reader::accept(char sign) {
  if (!current_.is(sign)) {
    return false;
  }
  take();
  return true;
}

bool Reader::accept(std::string_view words) {
  if (!current_.is(words)) {
    return false;
  }
  take();
  return true;
}

void Reader::expect(char sign) {
  if (!accept(sign)) {
    fail(std::string("'") + sign + "'");
  }
}

Token Reader::expect_name(std::string_view what) {
  if (!current_.is_name()) {
    fail(what);
  }
  return take();
}

std::uint64_t Reader::expect_integer(
    std::string_view what,
    std::uint64_t limit) {
  std::string expected =
      std::string(what) + " (an integer up to " + std::to_string(limit) + ")";
  std::uint64_t value = 0;
  if (current_.kind != Token::Kind::kNumber ||
      !integer_of(current_.text, value) || value > limit) {
    fail(expected);
  }
  take();
  return value;
}

void Reader::fail(std::string_view expected) const {
  fail(current_, expected);
}

void Reader::fail(const Token& found, std::string_view expected) const {
  lexer_.fail(found, expected);
}

Reader::Block Reader::skip_block() {
  // The lexer must stand right behind the "{".
  if (!at('{') || has_ahead_) {
    fail("'{'");
  }
  Token opening = current_;
  Block block;
  block.location = opening.location;
  block.begin = lexer_.offset();
  block.end = lexer_.skip_block(opening);
  take(); // "{"
  take(); // "}"
  return block;
}

void Reader::skip_line() {
  std::uint32_t line = current_.location.line;
  while (!at_end() && current_.location.line == line) {
    if (!has_ahead_) {
      lexer_.skip_line();
    }
    take();
  }
}

} // namespace accelerator::ptx
