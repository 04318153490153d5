#include "cudasim/engine/translation/ir/value.h"

#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace cudasim::engine {
namespace {

template <typename T>
ValueShape shape_of_integers(const std::byte* place, Mask mask) {
  T values[kLanes];
  std::memcpy(values, place, sizeof(values));
  using Signed = std::make_signed_t<T>;
  const auto both = [mask](int lane) { return (mask >> lane & 3) == 3; };
  const auto first = static_cast<int>(__builtin_ctz(mask));
  const auto in_row = [](int lane) { return static_cast<T>(lane % kRowLanes); };
  T stride = 0;
  for (int lane = 0; lane + 1 < kLanes; ++lane) {
    if (both(lane) && lane + 1 != kRowLanes) {
      stride = static_cast<T>(values[lane + 1] - values[lane]);
      break;
    }
  }
  T row = static_cast<T>(stride * kRowLanes);
  const T base = static_cast<T>(
      values[first] - stride * in_row(first) -
      (first < kRowLanes ? T{0} : row));
  const Mask second = mask >> kRowLanes;
  if (first < kRowLanes && second != 0) {
    const int lane = kRowLanes + __builtin_ctz(second);
    row = static_cast<T>(values[lane] - base - stride * in_row(lane));
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const T expected = static_cast<T>(
        base + stride * in_row(lane) + (lane < kRowLanes ? T{0} : row));
    if ((mask >> lane & 1) != 0 && values[lane] != expected) {
      return kVarying;
    }
  }
  return {
      true,
      static_cast<std::int64_t>(static_cast<Signed>(stride)),
      static_cast<std::int64_t>(static_cast<Signed>(row))};
}

} // namespace

ValueShape shape_of(const std::byte* place, int bytes, Mask mask) {
  switch (bytes) {
    case 0: {
      Mask set = 0;
      std::memcpy(&set, place, sizeof(set));
      set &= mask;
      return set == 0 || set == mask ? kUniform : kVarying;
    }
    case 2:
      return shape_of_integers<std::uint16_t>(place, mask);
    case 4:
      return shape_of_integers<std::uint32_t>(place, mask);
    default:
      return shape_of_integers<std::uint64_t>(place, mask);
  }
}

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
