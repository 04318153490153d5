#include "runtime/core/graphs/instances/run.h"

#include <memory>

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/streams/event.h"
#include "runtime/core/streams/stream.h"
#include "runtime/core/streams/work/transfer.h"

namespace accelerator::runtime {
namespace {

// A stream for as long as this lives; what is in it then is done all the same.
class Aside {
 public:
  explicit Aside(Device& device)
      : device_(device),
        stream_(device.create_stream(cudaStreamNonBlocking, 0)) {}
  ~Aside() {
    machine().streams().remove(stream_.get());
    device_.remove_stream(*stream_);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  Stream& stream() {
    return *stream_;
  }

 private:
  Device& device_;
  std::shared_ptr<Stream> stream_;
};

// Work of another device than the stream's runs there, in its turn.
template <typename Put>
void put_on(Device& device, Stream& stream, Put put) {
  if (&device == &stream.device()) {
    put(stream);
    return;
  }
  Aside aside(device);
  const auto mark = [](Stream& where) {
    auto event = std::make_shared<Event>(
        where.device(), where.device().slot(), cudaEventDisableTiming);
    event->record(where);
    return event;
  };
  mark(stream)->make_wait(aside.stream());
  put(aside.stream());
  mark(aside.stream())->make_wait(stream);
}

unsigned value_of(const Condition& condition, Stream& stream) {
  unsigned value = 0;
  put_copy(
      stream,
      linear_copy(
          &value, condition.address(), sizeof(value), cudaMemcpyDeviceToHost));
  stream.synchronize();
  return value;
}

// Runs the bodies of a conditional node to their end.
Status run_conditional(
    const Step& step,
    const tracing::Origin& origin,
    const std::shared_ptr<const void>& plan) {
  const auto& work = std::get<ConditionalWork>(step.work);
  Device& device = work.condition->device();
  Aside aside(device);
  do {
    const std::size_t body =
        work.chosen(value_of(*work.condition, aside.stream()));
    if (device.fault() != cudaSuccess || body >= step.below.size()) {
      break;
    }
    put_steps(aside.stream(), step.below[body], origin, plan);
    aside.stream().synchronize();
  } while (work.repeats() && device.fault() == cudaSuccess);
  return device.fault();
}

} // namespace

void put_initial(Stream& stream, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const auto* work = std::get_if<ConditionalWork>(&step.work);
    if (work != nullptr && work->condition->to_assign()) {
      const Condition& condition = *work->condition;
      const FillWork fill = linear_fill(
          condition.address(), condition.initial(), sizeof(unsigned), 1);
      put_on(condition.device(), stream, [&](Stream& where) {
        put_fill(where, fill);
      });
    }
    for (const auto& below : step.below) {
      put_initial(stream, below);
    }
  }
}

void put_steps(
    Stream& stream,
    const std::vector<Step>& steps,
    tracing::Origin origin,
    const std::shared_ptr<const void>& plan) {
  for (const Step& step : steps) {
    if (!step.enabled) {
      continue;
    }
    origin.graph = step.graph_id;
    origin.node = step.node_id;
    if (std::holds_alternative<ChildGraphWork>(step.work)) {
      put_steps(stream, step.below.front(), origin, plan);
    } else if (std::holds_alternative<ConditionalWork>(step.work)) {
      stream.enqueue([&step, origin, plan] {
        return run_conditional(step, origin, plan);
      });
    } else {
      put_on(*step.device, stream, [&](Stream& where) {
        put(where, step.work, origin);
      });
    }
  }
}

} // namespace accelerator::runtime
