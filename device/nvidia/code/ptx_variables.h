// Which variables a PTX text defines: the driver finds them by name only.
#pragma once

#include <string>
#include <vector>

namespace accelerator::nvidia {

struct PtxVariable {
  std::string name;
  bool constant; // in .const memory
};

/// The variables of a module that are outside of functions and are not
/// declared `.extern` only, in the order of the text.
/// Source: PTX ISA, directives and variable declarations.
std::vector<PtxVariable> find_variables(const std::string& ptx);

} // namespace accelerator::nvidia
