// Registrations.
#include "accelerator/operators/kernels/dropout.h"

#include "accelerator/composites/dropout.h"
#include "accelerator/operators/dispatch/registration.h"

namespace torch_cuda::operators {

void route_dropout() {
  register_function("aten::native_dropout", "", &composites::native_dropout);
  register_function(
      "aten::native_dropout_backward",
      "",
      &composites::native_dropout_backward);
}

} // namespace torch_cuda::operators
