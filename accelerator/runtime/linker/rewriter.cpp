#include "accelerator/runtime/linker/rewriter.h"

#include <charconv>

namespace accelerator::linker {
namespace {

class Rewriter {
 public:
  Rewriter(std::string_view text, Range range, const Renaming& renaming)
      : text_(text),
        range_(range),
        renaming_(renaming),
        scanner_(text, range),
        copied_(range.begin) {}

  std::string rewrite() {
    bool begins = false; // a statement
    for (Token token = scanner_.next(); !token.at_end();
         token = scanner_.next()) {
      if (token.is(".loc")) {
        location();
      } else if (token.is("@")) { // @p, @!p: the opcode comes behind it
        guard();
      } else if (token.is_name() && (!begins || ahead().is(":"))) {
        name(token);
      }
      begins = token.is(";") || token.is("{") || token.is("}") ||
          token.is(":") || token.is("@") || token.is(".loc");
    }
    copy_up_to(range_.end);
    return std::move(result_);
  }

 private:
  Token ahead() const {
    return Scanner(scanner_).next();
  }

  void copy_up_to(std::size_t end) {
    result_ += text_.substr(copied_, end - copied_);
    copied_ = end;
  }

  void replace(const Token& token, std::string_view by) {
    copy_up_to(token.range.begin);
    result_ += by;
    copied_ = token.range.end;
  }

  void name(const Token& token) {
    const auto found = renaming_.names.find(token.text);
    if (found != renaming_.names.end()) {
      replace(token, found->second);
    }
  }

  void guard() {
    const Token token = scanner_.next();
    name(token.is("!") ? scanner_.next() : token);
  }

  // .loc file line column [, function_name label, inlined_at file line column]
  void location() {
    const Token index = scanner_.next();
    unsigned file = 0;
    std::from_chars(
        index.text.data(), index.text.data() + index.text.size(), file);
    replace(index, std::to_string(file + renaming_.first_file));
    scanner_.next();
    const Token column = scanner_.next();
    if (ahead().is(",")) {
      copy_up_to(column.range.end);
      scanner_.skip_line();
      copied_ = scanner_.position();
    }
  }

  std::string_view text_;
  Range range_;
  const Renaming& renaming_;
  Scanner scanner_;
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
