#include "runtime/code/linker/register_limit.h"

#include <utility>

#include "runtime/code/linker/unit.h"

namespace accelerator::linker {
namespace {

bool has_bounds(std::string_view text, Range head) {
  ptx::Lexer lexer(text.substr(0, head.end), "", head.begin);
  for (ptx::Token token = lexer.next(); !token.at_end(); token = lexer.next()) {
    if (token.is(".maxnreg") || token.is(".maxntid") || token.is(".reqntid") ||
        token.is(".minnctapersm")) {
      return true;
    }
  }
  return false;
}

} // namespace

std::string limit_registers(
    const std::string& name,
    std::string ptx,
    unsigned most) {
  if (most == 0) {
    return ptx;
  }
  const Unit unit(name, std::move(ptx));
  const std::string directive = " .maxnreg " + std::to_string(most);
  std::string limited;
  std::size_t copied = 0;
  for (const Item& item : unit.items) {
    if (item.is_entry && item.is_defined && !has_bounds(unit.text, item.head)) {
      limited += unit.text.substr(copied, item.head.end - copied) + directive;
      copied = item.head.end;
    }
  }
  return limited + unit.text.substr(copied);
}

} // namespace accelerator::linker
