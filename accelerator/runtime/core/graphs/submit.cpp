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

const KernelInfo& code_of_launch(Stream& stream, const KernelWork& work) {
  try {
    return work.function->to_launch(stream.device()).info;
  } catch (const Failure&) {
    break_capture(stream);
    throw;
  }
}

} // namespace accelerator::runtime
