#include "cudasim/engine/targets/target.h"

#include <cstdlib>
#include <cstring>

namespace cudasim::engine {
namespace {

using Reach = Target::Reach;

struct Name {
  std::string_view name; // behind "sm_"
  Target target;
};

constexpr Name kTargets[] = {
    {"10", {10, Reach::kAll, {1, 0}}},
    {"11", {11, Reach::kAll, {1, 0}}},
    {"12", {12, Reach::kAll, {1, 2}}},
    {"13", {13, Reach::kAll, {1, 2}}},
    {"20", {20, Reach::kAll, {2, 0}}},
    {"21", {21, Reach::kAll, {2, 0}}},
    {"30", {30, Reach::kAll, {3, 0}}},
    {"32", {32, Reach::kAll, {4, 0}}},
    {"35", {35, Reach::kAll, {3, 1}}},
    {"37", {37, Reach::kAll, {4, 1}}},
    {"50", {50, Reach::kAll, {4, 0}}},
    {"52", {52, Reach::kAll, {4, 1}}},
    {"53", {53, Reach::kAll, {4, 2}}},
    {"60", {60, Reach::kAll, {5, 0}}},
    {"61", {61, Reach::kAll, {5, 0}}},
    {"62", {62, Reach::kAll, {5, 0}}},
    {"70", {70, Reach::kAll, {5, 1}}},
    {"72", {72, Reach::kAll, {6, 1}}},
    {"75", {75, Reach::kAll, {6, 3}}},
    {"80", {80, Reach::kAll, {7, 0}}},
    {"86", {86, Reach::kAll, {7, 1}}},
    {"87", {87, Reach::kAll, {7, 4}}},
    {"88", {88, Reach::kAll, {9, 0}}},
    {"89", {89, Reach::kAll, {7, 8}}},
    {"90", {90, Reach::kAll, {7, 8}}},
    {"90a", {90, Reach::kOwn, {8, 0}}},
    {"100", {100, Reach::kAll, {8, 6}}},
    {"100a", {100, Reach::kOwn, {8, 6}}},
    {"100f", {100, Reach::kFamily, {8, 8}}},
    // sm_101 is called sm_110 since PTX 9.0.
    {"101", {110, Reach::kAll, {8, 6}}},
    {"101a", {110, Reach::kOwn, {8, 6}}},
    {"101f", {110, Reach::kFamily, {8, 8}}},
    {"103", {103, Reach::kAll, {8, 8}}},
    {"103a", {103, Reach::kOwn, {8, 8}}},
    {"103f", {103, Reach::kFamily, {8, 8}}},
    {"107", {107, Reach::kAll, {9, 4}}},
    {"107a", {107, Reach::kOwn, {9, 4}}},
    {"107f", {107, Reach::kFamily, {9, 4}}},
    {"110", {110, Reach::kAll, {9, 0}}},
    {"110a", {110, Reach::kOwn, {9, 0}}},
    {"110f", {110, Reach::kFamily, {9, 0}}},
    {"120", {120, Reach::kAll, {8, 7}}},
    {"120a", {120, Reach::kOwn, {8, 7}}},
    {"120f", {120, Reach::kFamily, {8, 8}}},
    {"121", {121, Reach::kAll, {8, 8}}},
    {"121a", {121, Reach::kOwn, {8, 8}}},
    {"121f", {121, Reach::kFamily, {8, 8}}},
};

/// The last minor version of each major one; 5 has 0 and 1, 1 has 0 to 5.
constexpr std::uint32_t kLastMinor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 5};

} // namespace

bool is_version(PtxVersion version) {
  return version.major >= 1 && version.major < std::size(kLastMinor) &&
      version.minor <= kLastMinor[version.major];
}

bool Target::runs_on(std::uint32_t capability) const {
  switch (reach) {
    case Reach::kOwn:
      return capability == number;
    case Reach::kFamily:
      // A family is what shares the number of tens.
      return capability / 10 == number / 10 && capability >= number;
    default:
      return capability >= number;
  }
}

const Target* find_target(std::string_view name) {
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (name.substr(0, prefix.size()) == prefix) {
      for (const Name& known : kTargets) {
        if (known.name == name.substr(prefix.size())) {
          return &known.target;
        }
      }
    }
  }
  return nullptr;
}

bool targets_are_strict() {
  const char* setting = std::getenv("CUDASIM_PTX_TARGETS");
  return setting == nullptr || std::strcmp(setting, "lenient") != 0;
}

} // namespace cudasim::engine
