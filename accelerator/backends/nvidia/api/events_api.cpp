// Of the ABI: events.
#include "accelerator/backends/nvidia/api/api.h"
#include "accelerator/backends/nvidia/driver/error.h"
#include "accelerator/backends/nvidia/streams/event.h"
#include "accelerator/backends/nvidia/streams/stream.h"

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
    Device& chosen = device_of(device);
    CUevent native = nullptr;
    if (chosen.fault() == ACCEL_OK) {
      const Current current(chosen);
      ACCEL_DRIVER(
          cuEventCreate,
          &native,
          timing != 0 ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
    }
    *event = new accel_event_object{chosen, native};
  });
}

accel_status event_destroy(accel_event event) {
  return call_to_free("event_destroy", [&] {
    const accel_event_object going = event_of(event);
    delete event;
    if (going.native != nullptr) {
      const Current current(going.device);
      ACCEL_DRIVER(cuEventDestroy, going.native);
    }
  });
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
    ACCEL_DRIVER(cuEventRecord, recorded.native, where.native());
  });
}

accel_status event_query(accel_event event) {
  return call("event_query", [&] {
    accel_event_object& asked = event_of(event);
    asked.device.require_health();
    const Current current(asked.device);
    const CUresult result = driver().cuEventQuery(asked.native);
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
    const Current current(asked.device);
    ACCEL_DRIVER(cuEventSynchronize, asked.native);
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
    ACCEL_DRIVER(cuEventElapsedTime, milliseconds, from.native, end->native);
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
