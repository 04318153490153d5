#include "runtime/core/status/status.h"

#include "device/host/report.h"

namespace accelerator::runtime {

void report(const std::string& message) noexcept {
  host::report("torch_cuda: ", message);
}

} // namespace accelerator::runtime
