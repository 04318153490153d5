// Registrations.
#include "router/operators/kernels/dropout.h"

#include "router/composites/dropout.h"
#include "router/operators/dispatch/registration.h"

namespace torch_cuda::operators {

void route_dropout() {
  register_function("aten::native_dropout", "", &composites::native_dropout);
  register_function(
      "aten::native_dropout_backward",
      "",
      &composites::native_dropout_backward);
}

} // namespace torch_cuda::operators
