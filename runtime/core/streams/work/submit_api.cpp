#include "runtime/core/streams/work/submit_api.h"

#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/streams/work/submit.h"

cudaError_t accelerator_stream_submit(
    cudaStream_t stream,
    accel_status (*function)(void* native_stream, void* data),
    void* data) {
  using namespace accelerator::runtime;
  return guarded([&] {
    HostWork work;
    work.submit = function;
    work.data = data;
    submit(*resolve_stream(stream), work);
  });
}
