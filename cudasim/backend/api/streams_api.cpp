// Of the ABI: streams, the work in them, and events.
#include <chrono>
#include <memory>

#include "cudasim/backend/api/api.h"
#include "cudasim/backend/machine/copy.h"
#include "cudasim/backend/machine/event.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/status/error.h"

struct accel_stream_object {
  std::shared_ptr<cudasim::backend::Stream> stream;
};

struct accel_event_object {
  cudasim::backend::Event event;
  int device;
};

namespace cudasim::backend {
namespace {

Stream& stream_of(accel_stream stream) {
  require(stream != nullptr, "stream is null");
  return *stream->stream;
}

Event& event_of(accel_event event) {
  require(event != nullptr, "event is null");
  return event->event;
}

template <typename Box>
void require_box(const Box& work) {
  require_argument(work.width > 0, "width", work.width, "1 or more");
  require_argument(work.height > 0, "height", work.height, "1 or more");
  require_argument(work.depth > 0, "depth", work.depth, "1 or more");
}

void require_side(std::int32_t device) {
  if (device != ACCEL_HOST) {
    machine().require_device(device);
  }
}

accel_status copy(accel_stream stream, const accel_copy* work) {
  return call("copy", [&] {
    require(work != nullptr, "copy is null");
    require_box(*work);
    require_side(work->to_device);
    require_side(work->from_device);
    stream_of(stream).put_device([work = *work] {
      run_copy(work, machine().written_check());
      return ACCEL_OK;
    });
  });
}

accel_status fill(accel_stream stream, const accel_fill* work) {
  return call("fill", [&] {
    require(work != nullptr, "fill is null");
    require_box(*work);
    const std::uint32_t size = work->element_size;
    require_argument(
        size == 1 || size == 2 || size == 4, "element_size", size, "1, 2 or 4");
    const auto require_multiple = [&](const char* name, std::uint64_t value) {
      require_argument(
          value % size == 0, name, value, "a multiple of element_size");
    };
    require_multiple("to", reinterpret_cast<std::uint64_t>(work->to));
    require_multiple("pitch", work->pitch);
    require_multiple("slice", work->slice);
    stream_of(stream).put_device([work = *work] {
      run_fill(work);
      return ACCEL_OK;
    });
  });
}

accel_status stream_create(
    std::int32_t device,
    std::int32_t,
    accel_stream* stream) {
  return call("stream_create", [&] {
    require(stream != nullptr, "stream is null");
    *stream = new accel_stream_object{machine().device(device).create_stream()};
  });
}

accel_status stream_destroy(accel_stream stream) {
  return call("stream_destroy", [&] {
    Stream& ending = stream_of(stream);
    ending.device().remove_stream(ending);
    delete stream;
  });
}

accel_status stream_query(accel_stream stream) {
  return call("stream_query", [&] {
    const Stream& asked = stream_of(stream);
    asked.device().require_health();
    return asked.idle() ? ACCEL_OK : ACCEL_NOT_READY;
  });
}

accel_status stream_synchronize(accel_stream stream) {
  return call("stream_synchronize", [&] {
    Stream& asked = stream_of(stream);
    asked.synchronize();
    asked.device().require_health();
  });
}

accel_status stream_wait_event(accel_stream stream, accel_event event) {
  return call("stream_wait_event", [&] {
    event_of(event).make_wait(stream_of(stream));
  });
}

accel_status stream_callback(
    accel_stream stream,
    accel_callback callback,
    void* data) {
  return call("stream_callback", [&] {
    require(callback != nullptr, "callback is null");
    stream_of(stream).put_host([callback, data] {
      callback(data);
      return ACCEL_OK;
    });
  });
}

accel_status event_create(
    std::int32_t device,
    std::int32_t timing,
    accel_event* event) {
  return call("event_create", [&] {
    machine().require_device(device);
    require(event != nullptr, "event is null");
    *event = new accel_event_object{Event(timing != 0), device};
  });
}

accel_status event_destroy(accel_event event) {
  return call("event_destroy", [&] {
    event_of(event);
    delete event;
  });
}

accel_status event_record(accel_event event, accel_stream stream) {
  return call("event_record", [&] {
    Event& recorded = event_of(event);
    Stream& where = stream_of(stream);
    require_argument(
        where.device().ordinal() == event->device,
        "the stream's device",
        where.device().ordinal(),
        "the event's");
    recorded.record(where);
  });
}

accel_status event_query(accel_event event) {
  return call("event_query", [&] {
    return event_of(event).point().reached() ? ACCEL_OK : ACCEL_NOT_READY;
  });
}

accel_status event_synchronize(accel_event event) {
  return call("event_synchronize", [&] {
    const Point point = event_of(event).point();
    // The event may go while it is waited for.
    const std::int32_t device = event->device;
    point.wait();
    machine().device(device).require_health();
  });
}

accel_status event_elapsed(
    accel_event start,
    accel_event end,
    float* milliseconds) {
  return call("event_elapsed", [&] {
    const Point from = event_of(start).point();
    const Point to = event_of(end).point();
    require(milliseconds != nullptr, "milliseconds is null");
    require(
        from.when != nullptr && to.when != nullptr && from.reached() &&
            to.reached(),
        "an event has no time, or has not been reached");
    *milliseconds =
        std::chrono::duration<float, std::milli>(*to.when - *from.when).count();
  });
}

} // namespace

Stream& stream_behind(accel_stream stream) {
  return stream_of(stream);
}

void add_streams(accel_api* api) {
  api->copy = copy;
  api->fill = fill;
  api->stream_create = stream_create;
  api->stream_destroy = stream_destroy;
  api->stream_query = stream_query;
  api->stream_synchronize = stream_synchronize;
  api->stream_wait_event = stream_wait_event;
  api->stream_callback = stream_callback;
  api->event_create = event_create;
  api->event_destroy = event_destroy;
  api->event_record = event_record;
  api->event_query = event_query;
  api->event_synchronize = event_synchronize;
  api->event_elapsed = event_elapsed;
}

} // namespace cudasim::backend
