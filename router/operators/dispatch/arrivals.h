// Operators that libraries bring while the process runs.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <vector>

namespace torch_cuda::operators {

/// What has changed since this was asked the last time.
struct Arrivals {
  bool any = false; // operators have come
  std::vector<c10::OperatorName> gone; // with their libraries
};

/// Says what has changed. To be called at a time when no library registers
/// operators; the first call says that some have come.
Arrivals take_arrivals();

} // namespace torch_cuda::operators
