#include "runtime/core/operations/events.h"

#include <memory>
#include <utility>

#include "runtime/core/graphs/capture.h"
#include "runtime/core/ipc/shared_event.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/streams/event.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::runtime::operations {

namespace {

/// Tells profilers of an event that is about to be recorded. One that becomes
/// a part of a graph has no time.
void tell_of(const Event& event, Stream& stream) {
  const int device = stream.device().ordinal();
  tracing::EventToTell later(device, stream.id(), event.id());
  if (later && capture_info(stream).status == cudaStreamCaptureStatusNone) {
    stream.enqueue(
        [later]() mutable {
          later.tell();
          return cudaSuccess;
        },
        true);
  } else {
    tracing::event_recorded(device, stream.id(), event.id());
  }
}

/// A stream that is there for one call; it ends when its work is done.
class PassingStream {
 public:
  explicit PassingStream(Device& device)
      : stream_(device.create_stream(cudaStreamNonBlocking, 0)) {}
  ~PassingStream() {
    machine().streams().remove(stream_.get());
    stream_->device().remove_stream(*stream_);
  }
  PassingStream(const PassingStream&) = delete;
  PassingStream& operator=(const PassingStream&) = delete;
  Stream& operator*() const {
    return *stream_;
  }

 private:
  std::shared_ptr<Stream> stream_;
};

} // namespace

void event_create_with_flags(cudaEvent_t* event, unsigned flags) {
  require(
      (flags &
       ~(cudaEventBlockingSync | cudaEventDisableTiming |
         cudaEventInterprocess)) == 0);
  Device& device = current_device();
  auto made = std::make_shared<Event>(device, device.slot(), flags);
  store(
      event,
      reinterpret_cast<cudaEvent_t>(machine().events().add(std::move(made))));
  contexts().note(Contexts::Kind::kEvent, *event);
}

void event_destroy(cudaEvent_t event) {
  contexts().forget(Contexts::Kind::kEvent, event);
  machine().events().remove(event);
}

void event_record(cudaEvent_t event, cudaStream_t stream) {
  event_record_with_flags(event, stream, cudaEventRecordDefault);
}

void event_record_with_flags(
    cudaEvent_t handle,
    cudaStream_t stream,
    unsigned flags) {
  require((flags & ~cudaEventRecordExternal) == 0);
  auto event = machine().events().get(handle);
  const auto target = resolve_stream(stream);
  require(
      &event->device() == &target->device(), cudaErrorInvalidResourceHandle);
  tell_of(*event, *target);
  record_event(
      *target, std::move(event), (flags & cudaEventRecordExternal) != 0);
}

void device_record_event(int device, cudaEvent_t handle) {
  Device& target = machine().device(device);
  const auto event = machine().events().get(handle);
  require(&event->device() == &target, cudaErrorInvalidResourceHandle);
  require_device_not_capturing(target);
  const PassingStream all(target);
  for (const auto& stream : target.streams()) {
    if (stream.get() != &*all) {
      Event mark(target, target.slot(), cudaEventDisableTiming);
      mark.record(*stream);
      mark.make_wait(*all);
    }
  }
  event->record(*all);
}

void device_wait_event(int device, cudaEvent_t handle) {
  Device& target = machine().device(device);
  const auto event = machine().events().get(handle);
  require_not_captured(*event);
  require_device_not_capturing(target);
  // What is recorded into the program's event later is nobody's to wait for.
  auto reached =
      std::make_shared<Event>(target, target.slot(), cudaEventDisableTiming);
  const PassingStream waiting(target);
  event->make_wait(*waiting);
  reached->record(*waiting);
  target.stream_set().let_wait(std::move(reached));
}

void event_query(cudaEvent_t handle) {
  const auto event = machine().events().get(handle);
  require_not_captured(*event);
  require_no_unsafe_capture();
  event->device().require_health();
  require(event->reached(), cudaErrorNotReady);
  event->device().require_health(); // what was before it may have failed
}

void event_synchronize(cudaEvent_t handle) {
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
}

void event_elapsed_time(
    float* milliseconds,
    cudaEvent_t start,
    cudaEvent_t end) {
  const auto first = machine().events().get(start);
  const auto last = machine().events().get(end);
  require_not_captured(*first);
  require_not_captured(*last);
  first->device().require_health();
  store(milliseconds, first->milliseconds_until(*last));
}

void ipc_get_event_handle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  store(handle, export_event(machine().events().get(event)->shared()));
}

void ipc_open_event_handle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  Device& device = current_device();
  auto made =
      std::make_shared<Event>(device, device.slot(), import_event(handle));
  store(
      event,
      reinterpret_cast<cudaEvent_t>(machine().events().add(std::move(made))));
}

} // namespace accelerator::runtime::operations
