#include "cudasim/engine/instructions/registry.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "cudasim/engine/instructions/key.h"

// Each family, built for each set of instructions.
#define CUDASIM_FAMILIES(use)                                               \
  use(integer_family) use(carry_family) use(logic_family) use(float_family) \
      use(rounding_family) use(half_family) use(convert_to_integer_family)  \
          use(convert_to_float_family) use(compare_family)                  \
              use(approximate_family) use(collective_family)                \
                  use(memory_family) use(atomic_family) use(matrix_family)  \
                      use(matrix_memory_family) use(warp_matrix_family)     \
                          use(mbarrier_family)

namespace cudasim::engine {

#define CUDASIM_DECLARE(family) Family family();
namespace baseline {
CUDASIM_FAMILIES(CUDASIM_DECLARE)
}
namespace v3 {
CUDASIM_FAMILIES(CUDASIM_DECLARE)
}
namespace v4 {
CUDASIM_FAMILIES(CUDASIM_DECLARE)
}
#undef CUDASIM_DECLARE

namespace {

using Table = std::unordered_map<std::string, const Entry*>;

template <std::size_t kCount>
Table make_table(Family (*const (&families)[kCount])()) {
  Table table;
  for (const auto& make : families) {
    const Family family = make();
    for (std::size_t i = 0; i < family.count; ++i) {
      table.emplace(
          canonical_key(std::string(family.entries[i].key)),
          &family.entries[i]);
    }
  }
  return table;
}

#define CUDASIM_BASELINE(family) baseline::family,
#define CUDASIM_V3(family) v3::family,
#define CUDASIM_V4(family) v4::family,
Family (*const kBaseline[])() = {CUDASIM_FAMILIES(CUDASIM_BASELINE)};
Family (*const kV3[])() = {CUDASIM_FAMILIES(CUDASIM_V3)};
Family (*const kV4[])() = {CUDASIM_FAMILIES(CUDASIM_V4)};

const Table& table_of(Isa isa) {
  static const Table baseline_table = make_table(kBaseline);
  static const Table v3_table = make_table(kV3);
  static const Table v4_table = make_table(kV4);
  return isa == Isa::kV4 ? v4_table
      : isa == Isa::kV3  ? v3_table
                         : baseline_table;
}

Isa machine_isa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) {
    return Isa::kV4;
  }
  return __builtin_cpu_supports("x86-64-v3") ? Isa::kV3 : Isa::kBaseline;
}

} // namespace

Isa best_isa() {
  static const Isa chosen = [] {
    const Isa machine = machine_isa();
    const char* wish = std::getenv("CUDASIM_ISA");
    if (wish == nullptr) {
      return machine;
    }
    const Isa asked = std::strcmp(wish, "baseline") == 0 ? Isa::kBaseline
        : std::strcmp(wish, "v3") == 0                   ? Isa::kV3
                                                         : Isa::kV4;
    return asked < machine ? asked : machine;
  }();
  return chosen;
}

const Entry* find_entry(Isa isa, const char* key) {
  const Table& table = table_of(isa);
  const auto found = table.find(key);
  return found == table.end() ? nullptr : found->second;
}

void for_each_entry(void (*visit)(const char* family, const Entry& entry)) {
  for (const auto& make : kBaseline) {
    const Family family = make();
    for (std::size_t i = 0; i < family.count; ++i) {
      visit(family.name, family.entries[i]);
    }
  }
}

} // namespace cudasim::engine
