#include "cudasim/engine/code/builtin.h"

namespace cudasim::engine {

Builtin builtin_named(std::string_view name) {
  return name == "vprintf"     ? Builtin::kPrint
      : name == "__assertfail" ? Builtin::kAssert
      : name == "malloc"       ? Builtin::kMalloc
      : name == "free"         ? Builtin::kFree
                               : Builtin::kNone;
}

} // namespace cudasim::engine
