// Cuts PTX into words, as far as a linker has to know them. What they mean to a
// device, and whether it takes them, the device says.
// Source: PTX ISA 8.4, chapter 4 (syntax).
#pragma once

#include <cstddef>
#include <string_view>

namespace accelerator::linker {

/// A piece of a text: from `begin` up to `end`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool empty() const {
    return begin == end;
  }
  std::string_view of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

struct Token {
  enum class Kind : unsigned char {
    kEnd,
    kName, // foo, %r1, $L1, also opcodes
    kDot, // .global, .shared::cta
    kNumber,
    kString,
    kSign, // one character
  };
  Kind kind = Kind::kEnd;
  Range range;
  std::string_view text;

  bool is(std::string_view other) const {
    return text == other && kind != Kind::kString;
  }
  bool is_name() const {
    return kind == Kind::kName;
  }
  bool is_dot() const {
    return kind == Kind::kDot;
  }
  bool at_end() const {
    return kind == Kind::kEnd;
  }
};

/// Gives the words of a text one after the other. Any text can be scanned.
class Scanner {
 public:
  /// @param range of the text that is scanned.
  Scanner(std::string_view text, Range range)
      : text_(text.substr(0, range.end)), position_(range.begin) {}

  Token next();
  /// Goes to the end of the line.
  void skip_line();
  std::size_t position() const {
    return position_;
  }

 private:
  void skip_blanks();

  std::string_view text_;
  std::size_t position_;
};

} // namespace accelerator::linker
