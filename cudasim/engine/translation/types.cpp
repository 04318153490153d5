#include "cudasim/engine/translation/types.h"

#include <cstdlib>

namespace cudasim::engine {

int bits_of(const std::string& type, const char* letters) {
  if (type.size() < 2 ||
      std::string(letters).find(type[0]) == std::string::npos) {
    return 0;
  }
  const std::string bits = type.substr(1); // "u16x2" is another
  return bits == "16" ? 16 : bits == "32" ? 32 : bits == "64" ? 64 : 0;
}

std::int64_t cut(std::int64_t value, int bits) {
  const int rest = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << rest) >>
      rest;
}

ValueShape sum_of(
    const ValueShape& a,
    const ValueShape& b,
    std::int64_t factor,
    int bits) {
  const auto part = [&](std::int64_t mine, std::int64_t other) {
    return cut(
        static_cast<std::int64_t>(
            static_cast<std::uint64_t>(mine) +
            static_cast<std::uint64_t>(other) *
                static_cast<std::uint64_t>(factor)),
        bits);
  };
  return {true, part(a.stride, b.stride), part(a.row, b.row)};
}

std::int64_t literal_value(const Value& value) {
  return cut(
      static_cast<std::int64_t>(std::strtoull(value.text.c_str(), nullptr, 10)),
      value.bits);
}

} // namespace cudasim::engine
