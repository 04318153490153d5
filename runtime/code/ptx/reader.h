// A parser's view of the text: one token at hand and one ahead, and the errors
// that say what was found and what belongs there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/code/ptx/lexer.h"

namespace accelerator::ptx {

/// Limits nesting of what is read by recursion (expressions, braces), so that
/// no text can exhaust the stack.
constexpr int kDeepestNesting = 64;

class Reader {
 public:
  explicit Reader(Lexer lexer) : lexer_(lexer), current_(lexer_.next()) {}

  /// The token to be looked at; it stays until take() or skip().
  const Token& current() const {
    return current_;
  }
  /// The token after it.
  const Token& ahead();
  /// The token that was taken last.
  const Token& last() const {
    return last_;
  }
  /// Gives the current token and goes on to the next one.
  Token take();

  bool at(char sign) const {
    return current_.is(sign);
  }
  bool at(std::string_view words) const {
    return current_.is(words);
  }
  bool at_end() const {
    return current_.at_end();
  }
  /// Goes on when the current token is this; whether it was.
  bool accept(char sign);
  bool accept(std::string_view words);
  /// Goes on when it is this, or raises an error.
  void expect(char sign);
  /// Goes on past a name (identifier). @param what for the error: "a label".
  Token expect_name(std::string_view what);
  /// A plain unsigned integer up to `limit`.
  std::uint64_t expect_integer(std::string_view what, std::uint64_t limit);

  /// Raises an error about the current token or another one.
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail(const Token& found, std::string_view expected) const;

  /// Passes over "{ … }"; the "{" is the current token.
  /// @return offsets of what is between the braces.
  struct Block {
    std::size_t begin;
    std::size_t end;
    Location location; // of the "{"
  };
  Block skip_block();
  /// Passes over the rest of the line that the current token is on.
  void skip_line();

 private:
  Lexer lexer_;
  Token current_;
  Token last_;
  Token ahead_;
  bool has_ahead_ = false;
};

/// Counts one level of nesting while it lives.
class Nesting {
 public:
  /// @throws ParseError beyond kDeepestNesting.
  Nesting(const Reader& reader, int& depth) : depth_(depth) {
    if (depth_ >= kDeepestNesting) {
      reader.fail("less nesting (at most 64 levels)");
    }
    ++depth_;
  }
  ~Nesting() {
    --depth_;
  }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

} // namespace accelerator::ptx
