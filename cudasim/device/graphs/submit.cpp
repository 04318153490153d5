#include "cudasim/device/graphs/submit.h"

#include <utility>

#include "cudasim/device/graphs/capture.h"
#include "cudasim/device/machine/device.h"
#include "cudasim/device/machine/machine.h"

namespace cudasim::device {

void submit(Stream& stream, Work work) {
  if (capture_work(stream, work)) {
    return;
  }
  put(stream, work, tracing::origin_of_work(stream.id()));
  if (machine().settings().launch_blocking) {
    stream.synchronize();
  }
}

} // namespace cudasim::device
