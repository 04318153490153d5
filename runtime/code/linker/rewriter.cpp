#include "runtime/code/linker/rewriter.h"

#include <charconv>

namespace accelerator::linker {
namespace {

using ptx::Token;

class Rewriter {
 public:
  Rewriter(std::string_view text, Range range, const Renaming& renaming)
      : text_(text),
        range_(range),
        renaming_(renaming),
        lexer_(text.substr(0, range.end), "", range.begin),
        copied_(range.begin) {}

  std::string rewrite() {
    bool begins = false; // a statement
    for (Token token = lexer_.next(); !token.at_end(); token = lexer_.next()) {
      if (token.is(".loc")) {
        location();
      } else if (token.is('@')) { // @p, @!p: the opcode comes behind it
        guard();
      } else if (token.is_name() && (!begins || ahead().is(':'))) {
        name(token);
      }
      begins = token.is(';') || token.is('{') || token.is('}') ||
          token.is(':') || token.is('@') || token.is(".loc");
    }
    copy_up_to(range_.end);
    return std::move(result_);
  }

 private:
  Token ahead() const {
    return ptx::Lexer(lexer_).next();
  }

  void copy_up_to(std::size_t end) {
    result_ += text_.substr(copied_, end - copied_);
    copied_ = end;
  }

  void replace(const Token& token, std::string_view by) {
    const Range range = range_of(text_, token);
    copy_up_to(range.begin);
    result_ += by;
    copied_ = range.end;
  }

  void name(const Token& token) {
    const auto found = renaming_.names.find(token.text);
    if (found != renaming_.names.end()) {
      replace(token, found->second);
    }
  }

  void guard() {
    const Token token = lexer_.next();
    name(token.is('!') ? lexer_.next() : token);
  }

  // .loc file line column [, function_name label, inlined_at file line column]
  void location() {
    const Token index = lexer_.next();
    unsigned file = 0;
    std::from_chars(
        index.text.data(), index.text.data() + index.text.size(), file);
    replace(index, std::to_string(file + renaming_.first_file));
    lexer_.next();
    const Token column = lexer_.next();
    if (ahead().is(',')) {
      copy_up_to(range_of(text_, column).end);
      lexer_.skip_line();
      copied_ = lexer_.offset();
    }
  }

  std::string_view text_;
  Range range_;
  const Renaming& renaming_;
  ptx::Lexer lexer_;
  std::size_t copied_;
  std::string result_;
};

} // namespace

std::string rewritten(
    std::string_view text,
    Range range,
    const Renaming& renaming) {
  return Rewriter(text, range, renaming).rewrite();
}

} // namespace accelerator::linker
