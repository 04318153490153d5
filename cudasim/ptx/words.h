// Words in lists of words.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace cudasim::ptx {

inline bool is_one_of(
    std::string_view word,
    std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

} // namespace cudasim::ptx
