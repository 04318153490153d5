// The names of operators in tables.
#pragma once

#include <string_view>

namespace torch_cuda::operators {

/// Whether an entry of a table stands for an operator.
/// @param pattern a name, or the beginning of several names with * behind it.
/// @param name of the operator, with its namespace where the pattern has one,
/// and without its overload.
constexpr bool is_named(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || pattern.back() != '*') {
    return name == pattern;
  }
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

} // namespace torch_cuda::operators
