#include "cudasim/ptx/ast.h"

#include <array>
#include <cstddef>
#include <utility>

namespace cudasim::ptx {
namespace {

struct TypeFacts {
  std::string_view name;
  std::uint8_t bytes;
};

// In the order of Type.
constexpr std::array<TypeFacts, 43> kTypes = {{
    {"", 0},       {"pred", 0},    {"b8", 1},     {"b16", 2},    {"b32", 4},
    {"b64", 8},    {"b128", 16},   {"u8", 1},     {"u16", 2},    {"u32", 4},
    {"u64", 8},    {"s8", 1},      {"s16", 2},    {"s32", 4},    {"s64", 8},
    {"u16x2", 4},  {"s16x2", 4},   {"u8x4", 4},   {"s8x4", 4},   {"f16", 2},
    {"f16x2", 4},  {"bf16", 2},    {"bf16x2", 4}, {"tf32", 4},   {"e4m3", 1},
    {"e5m2", 1},   {"e2m1", 1},    {"e2m3", 1},   {"e3m2", 1},   {"ue8m0", 1},
    {"ue4m3", 1},  {"e4m3x2", 2},  {"e5m2x2", 2}, {"e2m1x2", 1}, {"e2m3x2", 2},
    {"e3m2x2", 2}, {"ue8m0x2", 2}, {"f32", 4},    {"f32x2", 8},  {"f64", 8},
    {"b1", 1},     {"u4", 1},      {"s4", 1},
}};
static_assert(static_cast<std::size_t>(Type::kS4) + 1 == kTypes.size());

} // namespace

std::size_t size_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].bytes;
}

std::string_view name_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].name;
}

Type type_named(std::string_view name) {
  for (std::size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) {
      return static_cast<Type>(i);
    }
  }
  return Type::kNone;
}

std::uint64_t Variable::size() const {
  std::uint64_t bytes = std::uint64_t{size_of(type)} * vector;
  for (std::uint64_t dimension : dimensions) {
    bytes *= dimension;
  }
  return bytes;
}

void Module::add(std::unique_ptr<Function> function) {
  const auto [place, is_new] =
      by_name.try_emplace(function->name, function.get());
  if (!is_new && !place->second->has_body && function->has_body) {
    place->second = function.get();
  }
  functions.push_back(std::move(function));
}

const Function* Module::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

} // namespace cudasim::ptx
