#include "runtime/core/graphs/stream_wait_api.h"

#include "runtime/core/graphs/capture.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/streams/stream.h"

int accelerator_stream_wait(void* stream) {
  using namespace accelerator::runtime;
  return guarded([&] {
    const auto resolved = resolve_stream(static_cast<cudaStream_t>(stream));
    require_not_capturing(*resolved);
    if (!resolved->idle_in_order()) {
      resolved->synchronize_in_order();
    }
    resolved->device().require_health();
  });
}
