// Of the ABI: streams.
#include "device/nvidia/api/api.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/driver/error.h"
#include "device/nvidia/streams/event.h"
#include "device/nvidia/streams/stream.h"

namespace accelerator::nvidia {
namespace {

accel_status stream_create(
    std::int32_t device,
    std::int32_t priority,
    accel_stream* stream) {
  return call("stream_create", [&] {
    *stream = new accel_stream_object{
        std::make_shared<Stream>(device_of(device), priority)};
  });
}

accel_status stream_destroy(accel_stream stream) {
  return call_to_free("stream_destroy", [&] {
    stream_of(stream);
    delete stream;
  });
}

accel_status stream_query(accel_stream stream) {
  return call("stream_query", [&] {
    Stream& asked = stream_of(stream);
    asked.device().require_health();
    if (!asked.is_handed_on()) {
      asked.device().fault();
      asked.device().require_health();
      return ACCEL_NOT_READY;
    }
    const Current current(asked.device());
    const CUresult result = driver().cuStreamQuery(asked.native());
    if (result == CUDA_ERROR_NOT_READY) {
      return ACCEL_NOT_READY;
    }
    check(result, "cuStreamQuery");
    return ACCEL_OK;
  });
}

accel_status stream_synchronize(accel_stream stream) {
  return call("stream_synchronize", [&] {
    Stream& asked = stream_of(stream);
    asked.device().require_health();
    asked.wait_until_handed_on();
    const Current current(asked.device());
    ACCEL_DRIVER(cuStreamSynchronize, asked.native());
  });
}

// A device that is lost has dropped its work: nobody of another one waits.
void wait_for(Device& waiting, Device& other, Mark& mark, CUstream stream) {
  const auto is_lost = [&] {
    return &other != &waiting && other.fault() != ACCEL_OK;
  };
  if (is_lost()) {
    return;
  }
  const CUresult result = driver().cuStreamWaitEvent(stream, mark.native(), 0);
  if (result != CUDA_SUCCESS && is_lost()) {
    return;
  }
  check(result, "cuStreamWaitEvent");
}

accel_status stream_wait_event(accel_stream stream, accel_event event) {
  return call("stream_wait_event", [&] {
    Stream& where = stream_of(stream);
    Device& waiting = where.device();
    waiting.require_health();
    Device& other = event->device;
    const std::shared_ptr<Mark> mark = event->mark();
    const auto work = [&waiting, &other, mark](CUstream native) {
      wait_for(waiting, other, *mark, native);
    };
    const Current current(waiting);
    const std::lock_guard lock(where.mutex());
    if (mark->is_given() && where.takes_work()) {
      where.put_now(work);
    } else {
      where.put_later(work, mark);
    }
  });
}

accel_status stream_callback(
    accel_stream stream,
    accel_callback callback,
    void* data) {
  return call("stream_callback", [&] {
    Stream& where = stream_of(stream);
    require(callback != nullptr, ACCEL_INVALID_ARGUMENT, "callback is null");
    where.add_callback(callback, data);
  });
}

accel_status stream_submit(
    accel_stream stream,
    accel_status (*function)(void* native_stream, void* data),
    void* data) {
  return call("stream_submit", [&] {
    Stream& where = stream_of(stream);
    where.device().require_health();
    // The function has to be called now, and behind all other work.
    where.wait_until_handed_on();
    const Current current(where.device());
    const accel_status status = function(where.native(), data);
    where.note_submitted();
    require(
        status == ACCEL_OK || status == ACCEL_NOT_READY,
        status,
        "the function that was submitted answers it");
  });
}

} // namespace

void add_streams(accel_api* api) {
  api->stream_create = stream_create;
  api->stream_destroy = stream_destroy;
  api->stream_query = stream_query;
  api->stream_synchronize = stream_synchronize;
  api->stream_wait_event = stream_wait_event;
  api->stream_callback = stream_callback;
  api->stream_submit = stream_submit;
}

} // namespace accelerator::nvidia
