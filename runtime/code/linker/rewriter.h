// Copies PTX from a unit to the linked text: static names that two units have
// get another one, and the indices of source files move.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/code/linker/range.h"

namespace accelerator::linker {

struct Renaming {
  std::unordered_map<std::string_view, std::string> names;
  unsigned first_file = 0; // is added to the index of a source file
};

/// The text of a range of a unit under its new names. A name is changed
/// wherever it stands for something, also for a label, register or parameter
/// that hides the symbol; opcodes stay. Of .loc the place of an inlined
/// function is left out: it names sections of debug information, which are not
/// linked.
std::string rewritten(
    std::string_view text,
    Range range,
    const Renaming& renaming);

} // namespace accelerator::linker
