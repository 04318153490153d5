// Events. Source: CUDA runtime API, event management.
#include <memory>
#include <utility>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/ipc/shared_event.h"
#include "accelerator/runtime/core/streams/event.h"
#include "accelerator/runtime/cudart/call.h"

using namespace accelerator::runtime;
using accelerator::cudart::call;
using accelerator::cudart::store;

namespace {

// @param kind flags, or the shared state of another process's event.
template <typename Kind>
std::shared_ptr<Event> make_event(Kind kind) {
  Device& device = current_device();
  return std::make_shared<Event>(device, device.slot(), kind);
}

cudaEvent_t enter(std::shared_ptr<Event> event) {
  return reinterpret_cast<cudaEvent_t>(
      machine().events().add(std::move(event)));
}

} // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] {
    require(
        (flags &
         ~(cudaEventBlockingSync | cudaEventDisableTiming |
           cudaEventInterprocess)) == 0);
    store(event, enter(make_event(flags)));
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] { machine().events().remove(event); });
}

cudaError_t cudaEventRecordWithFlags(
    cudaEvent_t handle,
    cudaStream_t stream,
    unsigned flags) {
  return call([&] {
    require((flags & ~cudaEventRecordExternal) == 0);
    auto event = machine().events().get(handle);
    const auto target = resolve_stream(stream);
    require(
        &event->device() == &target->device(), cudaErrorInvalidResourceHandle);
    tracing::event_recorded(
        target->device().ordinal(), target->id(), event->id());
    record_event(
        *target, std::move(event), (flags & cudaEventRecordExternal) != 0);
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call([&] {
    const auto event = machine().events().get(handle);
    require_not_captured(*event);
    require_no_unsafe_capture();
    event->device().require_health();
    require(event->reached(), cudaErrorNotReady);
    event->device().require_health(); // what was before it may have failed
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call([&] {
    const auto event = machine().events().get(handle);
    require_not_captured(*event);
    require_no_unsafe_capture();
    {
      const tracing::Wait traced(
          tracing::WaitRecord::Kind::kEvent,
          event->device().ordinal(),
          0,
          event->id());
      event->wait();
    }
    event->device().require_health();
  });
}

cudaError_t cudaEventElapsedTime(
    float* milliseconds,
    cudaEvent_t start,
    cudaEvent_t end) {
  return call([&] {
    const auto first = machine().events().get(start);
    const auto last = machine().events().get(end);
    first->device().require_health();
    store(milliseconds, first->milliseconds_until(*last));
  });
}

cudaError_t cudaIpcGetEventHandle(
    cudaIpcEventHandle_t* handle,
    cudaEvent_t event) {
  return call([&] {
    store(handle, export_event(machine().events().get(event)->shared()));
  });
}

cudaError_t cudaIpcOpenEventHandle(
    cudaEvent_t* event,
    cudaIpcEventHandle_t handle) {
  return call([&] { store(event, enter(make_event(import_event(handle)))); });
}

} // extern "C"
