// Of the ABI: events.
#include "device/nvidia/api/api.h"
#include "device/nvidia/driver/error.h"
#include "device/nvidia/streams/event.h"
#include "device/nvidia/streams/stream.h"

namespace accelerator::nvidia {
namespace {

// The event of a handle, whose device the calling function is about.
accel_event_object& event_of(accel_event event) {
  require(event != nullptr, ACCEL_INVALID_ARGUMENT, "event is null");
  concern(event->device.number());
  return *event;
}

accel_status event_create(
    std::int32_t device,
    std::int32_t timing,
    accel_event* event) {
  return call("event_create", [&] {
    *event = new accel_event_object(device_of(device), timing != 0);
  });
}

accel_status event_destroy(accel_event event) {
  return call_to_free("event_destroy", [&] { delete &event_of(event); });
}

accel_status event_record(accel_event event, accel_stream stream) {
  return call("event_record", [&] {
    accel_event_object& recorded = event_of(event);
    Stream& where = stream_of(stream);
    require_argument(
        &recorded.device == &where.device(),
        "the stream's device",
        where.device().number(),
        std::to_string(recorded.device.number()).c_str());
    recorded.device.require_health();
    const Current current(recorded.device);
    const std::lock_guard lock(where.mutex());
    const bool now = where.takes_work();
    std::shared_ptr<Mark> mark = recorded.mark();
    // A record in a queue must not come over a later one, and who waits for an
    // earlier one keeps that: each has a mark of its own.
    const bool is_new = !now || !mark->is_given();
    if (is_new) {
      mark = std::make_shared<Mark>(recorded.device, recorded.timing, now);
    }
    const auto work = [mark](CUstream native) {
      ACCEL_DRIVER(cuEventRecord, mark->native(), native);
    };
    if (now) {
      where.put_now(work);
    } else {
      where.put_later(work, nullptr, mark);
    }
    if (is_new) {
      recorded.replace(mark);
    }
  });
}

accel_status event_query(accel_event event) {
  return call("event_query", [&] {
    accel_event_object& asked = event_of(event);
    asked.device.require_health();
    const std::shared_ptr<Mark> mark = asked.mark();
    if (!mark->is_given()) {
      asked.device.fault();
      asked.device.require_health();
      return ACCEL_NOT_READY;
    }
    const Current current(asked.device);
    const CUresult result = driver().cuEventQuery(mark->native());
    if (result == CUDA_ERROR_NOT_READY) {
      return ACCEL_NOT_READY;
    }
    check(result, "cuEventQuery");
    return ACCEL_OK;
  });
}

accel_status event_synchronize(accel_event event) {
  return call("event_synchronize", [&] {
    accel_event_object& asked = event_of(event);
    asked.device.require_health();
    const std::shared_ptr<Mark> mark = asked.mark();
    mark->wait_until_given();
    asked.device.require_health();
    const Current current(asked.device);
    ACCEL_DRIVER(cuEventSynchronize, mark->native());
  });
}

accel_status event_elapsed(
    accel_event start,
    accel_event end,
    float* milliseconds) {
  return call("event_elapsed", [&] {
    accel_event_object& from = event_of(start);
    from.device.require_health();
    const Current current(from.device);
    ACCEL_DRIVER(
        cuEventElapsedTime,
        milliseconds,
        from.mark()->native(),
        end->mark()->native());
  });
}

} // namespace

void add_events(accel_api* api) {
  api->event_create = event_create;
  api->event_destroy = event_destroy;
  api->event_record = event_record;
  api->event_query = event_query;
  api->event_synchronize = event_synchronize;
  api->event_elapsed = event_elapsed;
}

} // namespace accelerator::nvidia
