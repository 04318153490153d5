#include "cudasim/engine/instructions/registry.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "cudasim/engine/instructions/key.h"

// Each family, built for each set of instructions.
#define CUDASIM_FAMILIES(use)                                                \
  use(integer_family) use(carry_family) use(logic_family) use(               \
      bit_field_family) use(float_family) use(rounding_family)               \
      use(single_pair_family) use(mixed_family) use(half_family) use(        \
          convert_to_integer_family) use(convert_to_float_family)            \
          use(convert_small_float_family) use(compare_family) use(           \
              approximate_family) use(collective_family) use(memory_family)  \
              use(stack_family) use(atomic_family) use(matrix_family)        \
                  use(matrix_memory_family) use(sparse_matrix_family)        \
                      use(small_float_matrix_family) use(warp_matrix_family) \
                          use(sub_byte_matrix_family) use(mbarrier_family)   \
                              use(bulk_copy_family) use(cluster_family)      \
                                  use(launch_control_family)

namespace cudasim::engine {

// Instructions without handlers, which the warp's loop executes.
Family control_family();
// Those whose handlers are compiled once: memory is what they take time for.
Family textures_family();
Family surfaces_family();

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

using Table = std::unordered_map<std::string, std::vector<Row>>;

template <std::size_t kCount>
Table make_table(Family (*const (&families)[kCount])()) {
  Table table;
  for (const auto& make : families) {
    const Family family = make();
    for (std::size_t i = 0; i < family.count; ++i) {
      const Entry& entry = family.entries[i];
      table[canonical_key(std::string(entry.key))].push_back(
          {&entry, parse_shape(entry.operands, types_in(entry.key))});
    }
  }
  return table;
}

#define CUDASIM_COMMON textures_family, surfaces_family, control_family
#define CUDASIM_BASELINE(family) baseline::family,
#if defined(CUDASIM_BASELINE_ONLY) || !defined(__x86_64__)
// Other processors have one set of instructions here. The fuzzer is compiled
// once.
#define CUDASIM_V3(family) baseline::family,
#define CUDASIM_V4(family) baseline::family,
#else
#define CUDASIM_V3(family) v3::family,
#define CUDASIM_V4(family) v4::family,
#endif
Family (*const kBaseline[])() = {CUDASIM_FAMILIES(CUDASIM_BASELINE)
                                     CUDASIM_COMMON};
Family (*const kV3[])() = {CUDASIM_FAMILIES(CUDASIM_V3) CUDASIM_COMMON};
Family (*const kV4[])() = {CUDASIM_FAMILIES(CUDASIM_V4) CUDASIM_COMMON};

/// Each table is made when it is first asked for, which is one of them. None is
/// destroyed: threads may outlive main().
const Table& table_of(Isa isa) {
  switch (isa) {
    case Isa::kV4: {
      static const Table& table = *new Table(make_table(kV4));
      return table;
    }
    case Isa::kV3: {
      static const Table& table = *new Table(make_table(kV3));
      return table;
    }
    default: {
      static const Table& table = *new Table(make_table(kBaseline));
      return table;
    }
  }
}

Forms forms_named(std::string_view name) {
  if (name == "integers") {
    return Forms::kIntegers;
  }
  if (name == "older") {
    return Forms::kOlder;
  }
  if (!name.empty()) {
    throw std::logic_error("forms '" + std::string(name) + "'");
  }
  return Forms::kAll;
}

std::unordered_map<std::string_view, Forms> make_forms() {
  std::unordered_map<std::string_view, Forms> forms;
  for (const auto& make : kBaseline) {
    const Family family = make();
    for (std::size_t i = 0; i < family.count; ++i) {
      const std::string_view key = family.entries[i].key;
      forms.try_emplace(key.substr(0, key.find('.')), Forms::kSome);
    }
    std::string_view rest = family.complete;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      const std::size_t end = std::min(word.find(':'), word.size());
      forms[word.substr(0, end)] =
          forms_named(word.substr(std::min(end + 1, word.size())));
    }
  }
  return forms;
}

Isa machine_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) {
    return Isa::kV4;
  }
  return __builtin_cpu_supports("x86-64-v3") ? Isa::kV3 : Isa::kBaseline;
#else
  return Isa::kBaseline;
#endif
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

const std::vector<Row>* find_rows(Isa isa, const std::string& key) {
  const Table& table = table_of(isa);
  const auto found = table.find(key);
  return found == table.end() ? nullptr : &found->second;
}

Forms forms_of(std::string_view opcode) {
  // Not destroyed: threads may outlive main().
  static const auto& forms =
      *new std::unordered_map<std::string_view, Forms>(make_forms());
  const auto found = forms.find(opcode);
  return found == forms.end() ? Forms::kNone : found->second;
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
