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
      ptx::is_one_of(name, {"alloca",    "bmsk",       "brkpt",
                            "call",      "getctarank", "griddepcontrol",
                            "istypep",   "ldu",        "mapa",
                            "multimem",  "setmaxnreg", "stackrestore",
                            "stacksave", "suld",       "suq",
                            "sured",     "sust",       "szext",
                            "tensormap", "tex",        "tld4",
                            "txq",       "vabsdiff",   "vadd",
                            "vadd2",     "vadd4",      "vavrg2",
                            "vavrg4",    "vmad",       "vmax",
                            "vmax2",     "vmax4",      "vmin",
                            "vmin2",     "vmin4",      "vset",
                            "vset2",     "vset4",      "vsub",
                            "vsub2",     "vsub4",      "wgmma"});
}

namespace {

/// What newer devices have: clusters, vectors and values of more bytes.
bool is_of_newer_devices(const std::string& modifier) {
  return modifier == "b128" || modifier == "v8" || modifier == "async" ||
      modifier == "bulk" || modifier.rfind("shared::cl", 0) == 0;
}

} // namespace

bool has_all_forms(
    const ptx::Instruction& instruction,
    const std::vector<ptx::Type>& types) {
  switch (forms_of(instruction.opcode)) {
    case Forms::kAll:
      return true;
    case Forms::kIntegers:
      return !types.empty() &&
          std::all_of(types.begin(), types.end(), is_integral);
    case Forms::kOlder:
      return std::none_of(
          instruction.modifiers.begin(),
          instruction.modifiers.end(),
          is_of_newer_devices);
    default:
      return false;
  }
}

} // namespace cudasim::engine
