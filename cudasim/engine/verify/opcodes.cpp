#include "cudasim/engine/verify/opcodes.h"

#include <algorithm>
#include <string>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine {

bool is_opcode(std::string_view name) {
  return forms_of(name) != Forms::kNone ||
      // What PTX has and the families have not. Of call no row could say what
      // it passes.
      ptx::is_one_of(name, {"brkpt",      "call",     "clusterlaunchcontrol",
                            "getctarank", "istypep",  "ldu",
                            "mapa",       "multimem", "setmaxnreg",
                            "suld",       "suq",      "sured",
                            "sust",       "tcgen05",  "tensormap",
                            "tex",        "tld4",     "txq",
                            "vabsdiff",   "vadd",     "vadd2",
                            "vadd4",      "vavrg2",   "vavrg4",
                            "vmad",       "vmax",     "vmax2",
                            "vmax4",      "vmin",     "vmin2",
                            "vmin4",      "vset",     "vset2",
                            "vset4",      "vsub",     "vsub2",
                            "vsub4",      "wgmma"});
}

namespace {

/// What newer devices have: clusters, wider vectors, vectors in a register.
bool is_of_newer_devices(const std::string& modifier) {
  return ptx::is_one_of(
             modifier, {"v8", "async", "bulk", "relu", "s8x4", "u8x4"}) ||
      modifier.rfind("shared::cl", 0) == 0;
}

bool is_of_newer_devices(
    const ptx::Instruction& instruction,
    const std::vector<ptx::Type>& types) {
  const auto& modifiers = instruction.modifiers;
  const bool has_four =
      std::find(modifiers.begin(), modifiers.end(), "v4") != modifiers.end();
  return (has_four && !types.empty() && ptx::size_of(types.back()) == 8) ||
      std::any_of(modifiers.begin(), modifiers.end(), [](const auto& modifier) {
           return is_of_newer_devices(modifier);
         });
}

} // namespace

bool has_all_forms(
    const ptx::Instruction& instruction,
    const std::vector<ptx::Type>& types) {
  switch (forms_of(instruction.opcode)) {
    case Forms::kAll:
      return true;
    case Forms::kIntegers:
      return !types.empty() && !is_of_newer_devices(instruction, types) &&
          std::all_of(types.begin(), types.end(), is_integral);
    case Forms::kOlder:
      return !is_of_newer_devices(instruction, types);
    default:
      return false;
  }
}

} // namespace cudasim::engine
