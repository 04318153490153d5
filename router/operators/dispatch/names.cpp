// Namespaces, and one exception.
#include "router/operators/dispatch/names.h"

namespace torch_cuda::operators {
namespace {

// The one kernel among the collectives.
constexpr const char* kCheckForNan = "c10d::check_for_nan";

} // namespace

bool is_pytorchs_code(const c10::OperatorName& name) {
  return name.getNamespace() == "aten" ||
      name.getNamespace() == "symm_mem" || // symmetric memory
      name.name == kCheckForNan;
}

bool is_collective(const c10::OperatorName& name) {
  return name.getNamespace() == "c10d" && name.name != kCheckForNan;
}

} // namespace torch_cuda::operators
