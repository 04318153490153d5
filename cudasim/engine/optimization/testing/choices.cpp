#include "cudasim/engine/optimization/testing/choices.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <stdexcept>

namespace cudasim::engine::optimization::random_functions {

unsigned Choices::below(unsigned limit) {
  return static_cast<unsigned>(engine_() % limit);
}

bool Choices::one_in(unsigned n) {
  return below(n) == 0;
}

std::string Choices::filled(
    std::string_view pattern,
    const std::vector<std::string>& arguments) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      text += pattern[i];
      continue;
    }
    const char kind = pattern[++i];
    if (kind == '(' || kind == '<') {
      const std::size_t end = pattern.find(kind == '(' ? ')' : '>', i);
      const std::string_view inside = pattern.substr(i + 1, end - i - 1);
      text += kind == '('
          ? alternative(inside)
          : std::to_string(
                below(static_cast<unsigned>(std::stoul(std::string(inside)))));
      i = end;
    } else if (std::isdigit(static_cast<unsigned char>(kind)) != 0) {
      text += arguments.at(static_cast<std::size_t>(kind - '1'));
    } else {
      text += operand(kind);
    }
  }
  return text;
}

std::string Choices::register_of(char kind, unsigned number) {
  switch (kind) {
    case 'W':
      return "%w" + std::to_string(number % kWords);
    case 'D':
      return "%d" + std::to_string(number % kLongs);
    case 'H':
      return "%h" + std::to_string(number % kShorts);
    case 'F':
      return "%f" + std::to_string(number % kFloats);
    case 'G':
      return "%g" + std::to_string(number % kDoubles);
    case 'P':
      return "%p" + std::to_string(number % kPredicates);
    default:
      throw std::invalid_argument(std::string("no registers: ") + kind);
  }
}

std::string Choices::operand(char kind) {
  switch (kind) {
    case 'w':
      return one_in(3) ? std::to_string(below(100)) : operand('W');
    case 'd':
      return one_in(3) ? std::to_string(below(100)) : operand('D');
    case '!':
      return one_in(2) ? "!" : "";
    case '@':
      return one_in(5) ? "@" + operand('!') + operand('P') + " " : "";
    default:
      // A multiple of every number of registers.
      return register_of(kind, below(12));
  }
}

std::string Choices::alternative(std::string_view list) {
  const auto others = std::count(list.begin(), list.end(), '|');
  for (unsigned i = below(static_cast<unsigned>(others) + 1); i > 0; --i) {
    list.remove_prefix(list.find('|') + 1);
  }
  return std::string(list.substr(0, list.find('|')));
}

} // namespace cudasim::engine::optimization::random_functions
