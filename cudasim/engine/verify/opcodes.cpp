#include "cudasim/engine/verify/opcodes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "cudasim/engine/verify/operand_types.h"

namespace cudasim::engine {
namespace {

/// Which forms of an instruction have rows: of kIntegers those whose types are
/// all integers or bits, of kOlder those that older devices have too.
enum class Forms : std::uint8_t { kSome, kIntegers, kOlder, kAll };

const std::unordered_map<std::string_view, Forms>& opcodes() {
  static const std::unordered_map<std::string_view, Forms> names = {
      {"abs", Forms::kIntegers},
      {"activemask", Forms::kAll},
      {"add", Forms::kIntegers},
      {"addc", Forms::kAll},
      {"alloca", Forms::kSome},
      {"and", Forms::kAll},
      {"applypriority", Forms::kSome},
      {"atom", Forms::kSome},
      {"bar", Forms::kSome},
      {"barrier", Forms::kSome},
      {"bfe", Forms::kAll},
      {"bfi", Forms::kAll},
      {"bfind", Forms::kAll},
      {"bmsk", Forms::kSome},
      {"bra", Forms::kAll},
      {"brev", Forms::kAll},
      {"brkpt", Forms::kSome},
      {"brx", Forms::kAll},
      {"call", Forms::kAll},
      {"clz", Forms::kAll},
      {"cnot", Forms::kAll},
      {"copysign", Forms::kAll},
      {"cos", Forms::kAll},
      {"cp", Forms::kSome},
      {"createpolicy", Forms::kSome},
      {"cvt", Forms::kSome},
      {"cvta", Forms::kSome},
      {"discard", Forms::kSome},
      {"div", Forms::kIntegers},
      {"dp2a", Forms::kAll},
      {"dp4a", Forms::kAll},
      {"elect", Forms::kAll},
      {"ex2", Forms::kSome},
      {"exit", Forms::kAll},
      {"fence", Forms::kSome},
      {"fma", Forms::kSome},
      {"fns", Forms::kSome},
      {"getctarank", Forms::kSome},
      {"griddepcontrol", Forms::kSome},
      {"isspacep", Forms::kSome},
      {"istypep", Forms::kSome},
      {"ld", Forms::kOlder},
      {"ldmatrix", Forms::kSome},
      {"ldu", Forms::kSome},
      {"lg2", Forms::kAll},
      {"lop3", Forms::kSome},
      {"mad", Forms::kIntegers},
      {"mad24", Forms::kAll},
      {"madc", Forms::kAll},
      {"mapa", Forms::kSome},
      {"match", Forms::kAll},
      {"max", Forms::kIntegers},
      {"mbarrier", Forms::kSome},
      {"membar", Forms::kSome},
      {"min", Forms::kIntegers},
      {"mma", Forms::kSome},
      {"mov", Forms::kSome},
      {"movmatrix", Forms::kSome},
      {"mul", Forms::kIntegers},
      {"mul24", Forms::kAll},
      {"multimem", Forms::kSome},
      {"nanosleep", Forms::kAll},
      {"neg", Forms::kIntegers},
      {"not", Forms::kAll},
      {"or", Forms::kAll},
      {"pmevent", Forms::kSome},
      {"popc", Forms::kAll},
      {"prefetch", Forms::kSome},
      {"prefetchu", Forms::kSome},
      {"prmt", Forms::kAll},
      {"rcp", Forms::kSome},
      {"red", Forms::kSome},
      {"redux", Forms::kSome},
      {"rem", Forms::kAll},
      {"ret", Forms::kAll},
      {"rsqrt", Forms::kSome},
      {"sad", Forms::kAll},
      {"selp", Forms::kAll},
      {"set", Forms::kIntegers},
      {"setmaxnreg", Forms::kSome},
      {"setp", Forms::kIntegers},
      {"shf", Forms::kAll},
      {"shfl", Forms::kSome},
      {"shl", Forms::kAll},
      {"shr", Forms::kAll},
      {"sin", Forms::kAll},
      {"slct", Forms::kIntegers},
      {"sqrt", Forms::kSome},
      {"st", Forms::kOlder},
      {"stackrestore", Forms::kSome},
      {"stacksave", Forms::kSome},
      {"stmatrix", Forms::kSome},
      {"sub", Forms::kIntegers},
      {"subc", Forms::kAll},
      {"suld", Forms::kSome},
      {"suq", Forms::kSome},
      {"sured", Forms::kSome},
      {"sust", Forms::kSome},
      {"szext", Forms::kSome},
      {"tanh", Forms::kSome},
      {"tensormap", Forms::kSome},
      {"testp", Forms::kAll},
      {"tex", Forms::kSome},
      {"tld4", Forms::kSome},
      {"trap", Forms::kAll},
      {"txq", Forms::kSome},
      {"vabsdiff", Forms::kSome},
      {"vabsdiff2", Forms::kSome},
      {"vabsdiff4", Forms::kSome},
      {"vadd", Forms::kSome},
      {"vadd2", Forms::kSome},
      {"vadd4", Forms::kSome},
      {"vavrg2", Forms::kSome},
      {"vavrg4", Forms::kSome},
      {"vmad", Forms::kSome},
      {"vmax", Forms::kSome},
      {"vmax2", Forms::kSome},
      {"vmax4", Forms::kSome},
      {"vmin", Forms::kSome},
      {"vmin2", Forms::kSome},
      {"vmin4", Forms::kSome},
      {"vote", Forms::kSome},
      {"vset", Forms::kSome},
      {"vset2", Forms::kSome},
      {"vset4", Forms::kSome},
      {"vshl", Forms::kSome},
      {"vshr", Forms::kSome},
      {"vsub", Forms::kSome},
      {"vsub2", Forms::kSome},
      {"vsub4", Forms::kSome},
      {"wgmma", Forms::kSome},
      {"wmma", Forms::kSome},
      {"xor", Forms::kAll},
  };
  return names;
}

} // namespace

bool is_opcode(std::string_view name) {
  return opcodes().count(name) != 0;
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
  const auto found = opcodes().find(instruction.opcode);
  if (found == opcodes().end()) {
    return false;
  }
  switch (found->second) {
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
