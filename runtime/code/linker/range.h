// Where in a unit's text something stands.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/code/ptx/lexer.h"

namespace accelerator::linker {

/// A piece of a text: from `begin` up to `end`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::string_view of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

/// Where a token of `text` stands in it.
inline Range range_of(std::string_view text, const ptx::Token& token) {
  const auto begin = static_cast<std::size_t>(token.text.data() - text.data());
  return {begin, begin + token.text.size()};
}

} // namespace accelerator::linker
