// Streams and events.
#include <atomic>
#include <chrono>
#include <memory>

#include "adapter/testing/stand_in/runtime/runtime.h"

namespace {

// When the stream got to the last record; 0: not yet.
using Time = std::atomic<int64_t>;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

struct standEvent_st {
  int device;
  accel_event event;
  bool timing;
  std::shared_ptr<Time> time; // null: not recorded
};

using stand::answer;
using stand::check;
using stand::need;
using stand::Runtime;

standError_t standStreamCreate(standStream_t* stream) {
  return standStreamCreateWithPriority(stream, standStreamDefault, 0);
}

standError_t standStreamCreateWithFlags(
    standStream_t* stream,
    unsigned int flags) {
  return standStreamCreateWithPriority(stream, flags, 0);
}

standError_t standStreamCreateWithPriority(
    standStream_t* stream,
    unsigned int flags,
    int priority) {
  return answer([&] {
    need(
        flags <= standStreamNonBlocking,
        standErrorInvalidValue,
        "there is no such flag of streams");
    *stream = Runtime::get().new_stream(stand::current_device(), priority);
  });
}

standError_t standStreamDestroy(standStream_t stream) {
  return answer([&] {
    need(
        stream,
        standErrorInvalidResourceHandle,
        "the default stream cannot be destroyed");
    check(Runtime::get().api().stream_destroy(stream->stream));
    delete stream;
  });
}

standError_t standStreamQuery(standStream_t stream) {
  return answer([&] {
    auto& runtime = Runtime::get();
    return stand::readiness(
        runtime.api().stream_query(runtime.stream(stream).stream));
  });
}

standError_t standStreamSynchronize(standStream_t stream) {
  return answer([&] {
    auto& runtime = Runtime::get();
    check(runtime.api().stream_synchronize(runtime.stream(stream).stream));
  });
}

standError_t standStreamWaitEvent(
    standStream_t stream,
    standEvent_t event,
    unsigned int flags) {
  return answer([&] {
    need(flags == 0, standErrorInvalidValue, "flags have to be 0");
    need(event, standErrorInvalidResourceHandle, "there is no event");
    auto& runtime = Runtime::get();
    check(runtime.api().stream_wait_event(
        runtime.stream(stream).stream, event->event));
  });
}

standError_t standStreamGetPriority(standStream_t stream, int* priority) {
  return answer([&] { *priority = Runtime::get().stream(stream).priority; });
}

standError_t standLaunchHostFunc(
    standStream_t stream,
    standHostFn_t function,
    void* data) {
  return answer([&] {
    need(function, standErrorInvalidValue, "there is no function");
    stand::put(Runtime::get().stream(stream), [=](standStream_st& on) {
      check(Runtime::get().api().stream_callback(on.stream, function, data));
    });
  });
}

standError_t standEventCreate(standEvent_t* event) {
  return standEventCreateWithFlags(event, standEventDefault);
}

standError_t standEventCreateWithFlags(
    standEvent_t* event,
    unsigned int flags) {
  return answer([&] {
    need(
        flags <= (standEventBlockingSync | standEventDisableTiming),
        standErrorInvalidValue,
        "there is no such flag of events");
    auto& runtime = Runtime::get();
    const int device = stand::current_device();
    const bool timing = !(flags & standEventDisableTiming);
    accel_event made = nullptr;
    check(runtime.api().event_create(runtime.number(device), false, &made));
    *event = new standEvent_st{device, made, timing, nullptr};
  });
}

standError_t standEventDestroy(standEvent_t event) {
  return answer([&] {
    need(event, standErrorInvalidResourceHandle, "there is no event");
    check(Runtime::get().api().event_destroy(event->event));
    delete event;
  });
}

standError_t standEventRecord(standEvent_t event, standStream_t handle) {
  return answer([&] {
    need(event, standErrorInvalidResourceHandle, "there is no event");
    auto& runtime = Runtime::get();
    auto& stream = runtime.stream(handle);
    need(
        stream.device == event->device,
        standErrorInvalidResourceHandle,
        "the event was made for another device than the stream's");
    event->time = std::make_shared<Time>(0);
    if (event->timing) {
      auto* held = new std::shared_ptr<Time>(event->time);
      const auto status = runtime.api().stream_callback(
          stream.stream,
          [](void* data) {
            auto* held = static_cast<std::shared_ptr<Time>*>(data);
            (*held)->store(now());
            delete held;
          },
          held);
      if (status != ACCEL_OK) {
        delete held;
      }
      check(status);
    }
    check(runtime.api().event_record(event->event, stream.stream));
  });
}

standError_t standEventQuery(standEvent_t event) {
  return answer([&] {
    need(event, standErrorInvalidResourceHandle, "there is no event");
    return stand::readiness(Runtime::get().api().event_query(event->event));
  });
}

standError_t standEventSynchronize(standEvent_t event) {
  return answer([&] {
    need(event, standErrorInvalidResourceHandle, "there is no event");
    check(Runtime::get().api().event_synchronize(event->event));
  });
}

standError_t standEventElapsedTime(
    float* milliseconds,
    standEvent_t start,
    standEvent_t end) {
  return answer([&] {
    for (const auto* event : {start, end}) {
      need(
          event && event->timing && event->time,
          standErrorInvalidResourceHandle,
          "both events have to be recorded, and made with timing");
      if (const auto error = standEventQuery(const_cast<standEvent_t>(event))) {
        return error;
      }
    }
    constexpr double nanoseconds = 1e6;
    *milliseconds = static_cast<float>(
        static_cast<double>(end->time->load() - start->time->load()) /
        nanoseconds);
    return standSuccess;
  });
}
