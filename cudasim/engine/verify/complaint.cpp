#include "cudasim/engine/verify/complaint.h"

#include <cstdio>

#include "cudasim/ptx/parser.h"

namespace cudasim::engine {

using Kind = ptx::Operand::Kind;

void refuse(
    const ptx::Module& module,
    ptx::Location location,
    std::string_view found,
    const std::string& expected) {
  ptx::fail(module.source_name, location, found, expected);
}

namespace {

std::string list_of(
    const std::vector<ptx::Operand>& operands,
    const char* separator) {
  std::string text;
  for (const ptx::Operand& operand : operands) {
    text += (text.empty() ? "" : separator) + text_of(operand);
  }
  return text;
}

} // namespace

std::string text_of(const ptx::Operand& operand) {
  const std::string sign = operand.negated ? "!" : "";
  const std::string offset =
      operand.offset == 0 ? "" : "+" + std::to_string(operand.offset);
  switch (operand.kind) {
    case Kind::kRegister:
    case Kind::kSymbol:
      return sign + operand.name + offset;
    case Kind::kSpecialRegister:
      return operand.component == 0 ? operand.name
                                    : operand.name + "." + operand.component;
    case Kind::kInteger:
      return std::to_string(static_cast<std::int64_t>(operand.bits));
    case Kind::kFloat: {
      char digits[24];
      std::snprintf(
          digits,
          sizeof(digits),
          operand.single ? "0f%08llx" : "0d%016llx",
          static_cast<unsigned long long>(operand.bits));
      return digits;
    }
    case Kind::kAddress:
      return "[" + list_of(operand.elements, ", ") + offset + "]";
    case Kind::kElement:
      return operand.name + "[" + list_of(operand.elements, ", ") + offset +
          "]";
    case Kind::kVector:
      return "{" + list_of(operand.elements, ", ") + "}";
    case Kind::kPair:
      return list_of(operand.elements, "|");
    default:
      return "_";
  }
}

} // namespace cudasim::engine
