#include "runtime/code/ptx/parse_error.h"

namespace accelerator::ptx {
namespace {

// Printable and short, whatever the text holds.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result;
  for (char c : text.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      auto byte = static_cast<unsigned char>(c);
      result += "\\x";
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
    }
  }
  if (text.size() > kLongest) {
    result += "...";
  }
  return result;
}

} // namespace

void fail(
    std::string_view source,
    Location location,
    std::string_view found,
    std::string_view expected) {
  throw ParseError(
      std::string(source) + ':' + std::to_string(location.line) + ':' +
          std::to_string(location.column) + ": found " +
          (found.empty() ? "the end of the text" : '\'' + shown(found) + '\'') +
          ", expected " + std::string(expected),
      location);
}

} // namespace accelerator::ptx
