// Cuts PTX text into tokens. Source: PTX ISA 8.4, chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/code/ptx/parse_error.h"

namespace accelerator::ptx {

/// One word of PTX.
struct Token {
  enum class Kind : std::uint8_t {
    kEnd, // of the text, and empty
    kName, // identifier: "ld", "%r1", "$L__BB0_2", "_"
    kDot, // a dot and what belongs to it: ".global", ".shared::cta", ".x"
    kNumber, // "12", "0x1F", "0f3F800000", "1.5e3"
    kString, // with its quotes
    kSign, // punctuation of one or two characters
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  Location location;

  bool is(char sign) const {
    return kind == Kind::kSign && text.size() == 1 && text[0] == sign;
  }
  bool is(std::string_view words) const {
    return text == words && kind != Kind::kString;
  }
  bool at_end() const {
    return kind == Kind::kEnd;
  }
  bool is_name() const {
    return kind == Kind::kName;
  }
  bool is_dot() const {
    return kind == Kind::kDot;
  }
};

/// Reads an integer as a number token has it ("12", "0x1F", "0b11", "017",
/// "16U"); false when it is none of at most 64 bits.
bool integer_of(std::string_view text, std::uint64_t& value);

/// Reads tokens from the front to the back of a text.
class Lexer {
 public:
  /// @param text must outlive the lexer and its tokens.
  /// @param source_name for messages; must outlive the lexer.
  /// @param begin where to start, @param at the place that this is.
  Lexer(
      std::string_view text,
      std::string_view source_name,
      std::size_t begin = 0,
      Location at = {1, 1});

  /// The next token; kEnd at the end, again and again.
  /// @throws ParseError at a character that PTX does not have, or at a comment
  ///   or string that does not end.
  Token next();

  /// Passes over everything up to the "}" that closes a "{" just read, without
  /// making tokens. @return the offset of that "}", which next() gives then.
  /// @throws ParseError when it is missing.
  /// @param opening the "{", for the message.
  std::size_t skip_block(const Token& opening);

  /// Passes over the rest of the line.
  void skip_line();

  /// Raises a ParseError "SOURCE:LINE:COLUMN: found 'TOKEN', expected …".
  /// @param expected what belongs there, or what is wrong with it.
  [[noreturn]] void fail(const Token& found, std::string_view expected) const;

  /// Offset of what next() looks at first.
  std::size_t offset() const {
    return position_;
  }

 private:
  void skip_blanks();
  Token take(Token::Kind kind, std::size_t length);
  Location here() const;

  std::string_view text_;
  std::string_view source_name_;
  std::size_t position_;
  std::size_t
      line_start_; // offset of column 1; wraps for a start inside a line
  std::uint32_t line_;
};

} // namespace accelerator::ptx
