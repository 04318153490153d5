// Any bytes are a module or a ParseError, never anything else.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "cudasim/ptx/parser.h"

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  namespace ptx = cudasim::ptx;
  std::string text(data, data + size);
  try {
    auto module = ptx::parse_module(std::move(text), "fuzz");
    for (const ptx::Variable& variable : module->variables) {
      variable.size();
    }
    for (const auto& function : module->functions) {
      try {
        ptx::parse_body(*module, *function);
      } catch (const ptx::ParseError&) {
      }
    }
  } catch (const ptx::ParseError&) {
  }
  return 0;
}
