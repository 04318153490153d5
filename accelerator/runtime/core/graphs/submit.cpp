#include "accelerator/runtime/core/graphs/submit.h"

#include <utility>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/machine/device.h"
#include "accelerator/runtime/core/machine/machine.h"

namespace accelerator::runtime {

void submit(Stream& stream, Work work) {
  if (capture_work(stream, work)) {
    return;
  }
  put(stream, work, tracing::origin_of_work(stream.id()));
  if (machine().settings().launch_blocking) {
    stream.synchronize();
  }
}

} // namespace accelerator::runtime
