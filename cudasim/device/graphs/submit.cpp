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
  Device& device = stream.device();
  stream.enqueue([&device,
                  work = std::move(work),
                  origin = tracing::origin_of_work(stream.id())] {
    return perform(device, work, origin);
  });
  if (machine().settings().launch_blocking) {
    stream.synchronize();
  }
}

} // namespace cudasim::device
