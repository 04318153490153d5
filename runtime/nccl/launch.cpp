#include "runtime/nccl/launch.h"

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <utility>

#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/streams/work/kernel_names.h"
#include "runtime/core/streams/work/submit.h"
#include "runtime/core/tracing/tracing.h"
#include "runtime/nccl/describe.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/memory.h"
#include "runtime/nccl/thread.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::nccl {
namespace {

bool is_message(const Operation& operation) {
  return operation.signature.kind == Kind::kSend ||
      operation.signature.kind == Kind::kReceive;
}

bool has_memory(const Communicator& own, const Operation& operation) {
  const char* name = name_of(operation.signature.kind);
  const std::size_t factor_bytes = operation.factor_on_device == nullptr
      ? 0
      : size_of(operation.signature.type);
  return stream_work::accessible(
      name,
      {{operation.send, bytes_to_send(own, operation)},
       {operation.receive, bytes_to_receive(own, operation)},
       {operation.factor_on_device, factor_bytes}});
}

/// Tells the device of what the operation reads of it.
void tell_reads(const Communicator& own, const Operation& operation) {
  const std::size_t factor_bytes = operation.factor_on_device == nullptr
      ? 0
      : size_of(operation.signature.type);
  stream_work::reads_of(
      name_of(operation.signature.kind),
      {{operation.send, bytes_to_send(own, operation)},
       {operation.factor_on_device, factor_bytes}});
}

/// Puts copies on the host in the place of the operation's buffers.
void use_copies(Communicator& own, Operation& operation) {
  HostCopies& copies = own.host_copies;
  operation.send = copies.of(operation.send, bytes_to_send(own, operation));
  operation.receive =
      copies.for_result(operation.receive, bytes_to_receive(own, operation));
  if (operation.factor_on_device != nullptr) {
    operation.factor_on_device = copies.of(
        operation.factor_on_device, size_of(operation.signature.type));
  }
}

/// Runs operations on their buffers, or on copies of these.
void run_where_the_host_sees(
    Communicator& own,
    std::vector<Operation> operations,
    void (*run)(Communicator&, const std::vector<Operation>&)) {
  if (runtime::machine().device(own.device()).can(ACCEL_CAP_HOST_VISIBLE)) {
    for (const Operation& operation : operations) {
      tell_reads(own, operation);
    }
    run(own, operations);
    return;
  }
  own.host_copies.clear();
  for (Operation& operation : operations) {
    use_copies(own, operation);
  }
  run(own, operations);
  own.host_copies.write_results();
  own.host_copies.clear();
}

void run_collectives(
    Communicator& own,
    const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    run_collective(own, operation);
  }
}

/// Carries a plan out. Collectives come first, as each rank agrees however its
/// calls are ordered.
void carry_out(const Plan& plan) {
  Communicator& own = *plan.communicator;
  // The program may be capturing in another thread, which is none of this
  // thread's business.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check(cudaThreadExchangeStreamCaptureMode(&mode));
  const DeviceGuard device(own.device());
  for (const Operation& operation : plan.operations) {
    if (!has_memory(own, operation)) {
      set_fault(own.device());
      return;
    }
  }
  std::vector<Operation> messages;
  for (const Operation& operation : plan.operations) {
    if (is_message(operation)) {
      messages.push_back(operation);
    } else {
      run_where_the_host_sees(own, {operation}, run_collectives);
    }
  }
  if (!messages.empty()) {
    run_where_the_host_sees(own, std::move(messages), run_point_to_point);
  }
}

/// What the stream does.
void run(const Plan& plan) noexcept {
  Communicator& own = *plan.communicator;
  const std::lock_guard lock(own.running);
  try {
    if (own.aborted()) {
      return;
    }
    try {
      carry_out(plan);
    } catch (const Unreachable& error) {
      own.await_death();
      own.fail_in_operation(error);
      own.wait_for_abort();
    } catch (const Error& error) {
      own.fail_in_operation(error);
      own.wait_for_abort();
    } catch (const std::exception& error) {
      // Whatever it is: what follows in the stream must not take it for done.
      own.fail_in_operation(Error(ncclInternalError, error.what()));
      own.wait_for_abort();
    }
  } catch (const Aborted&) {
    return;
  } catch (const std::exception& error) {
    own.fail(ncclInternalError, error.what());
  }
}

/// An event that is destroyed at the end of the scope.
class OwnEvent {
 public:
  OwnEvent() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  ~OwnEvent() {
    cudaEventDestroy(event_);
  }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  operator cudaEvent_t() const {
    return event_;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// What comes next on `after` waits for what is on `before`.
void order(cudaStream_t before, cudaStream_t after) {
  const OwnEvent event;
  check(cudaEventRecord(event, before));
  check(cudaStreamWaitEvent(after, event, 0));
}

std::vector<cudaStream_t> streams_of(const Plan& plan) {
  std::vector<cudaStream_t> streams;
  for (const Operation& operation : plan.operations) {
    if (std::find(streams.begin(), streams.end(), operation.stream) ==
        streams.end()) {
      streams.push_back(operation.stream);
    }
  }
  return streams;
}

/// As cudaLaunchHostFunc(), for what profilers take for NCCL's kernel.
void launch_kernel(
    const Plan& plan,
    cudaStream_t stream,
    cudaHostFn_t function,
    void* data) {
  const Operation* named = &plan.operations.front();
  for (const Operation& operation : plan.operations) {
    named = is_message(*named) ? &operation : named;
  }
  const char* const name =
      runtime::lasting_kernel_name(kernel_of(named->signature));
  // As NCCL does.
  const runtime::tracing::Call call(
      runtime::tracing::Interface::kDriver, "cuLaunchKernelEx");
  check(runtime::guarded([&] {
    runtime::submit(
        *runtime::resolve_stream(stream),
        runtime::HostWork{function, data, name});
  }));
}

/// Puts the plan on a stream that is being captured; the graph owns it.
void put_into_graph(Plan plan, cudaStream_t stream, cudaGraph_t graph) {
  auto owned = std::make_unique<Plan>(std::move(plan));
  cudaUserObject_t object = nullptr;
  check(cudaUserObjectCreate(
      &object,
      owned.get(),
      [](void* data) { delete static_cast<Plan*>(data); },
      1,
      cudaUserObjectNoDestructorSync));
  Plan* const kept = owned.release();
  check(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  launch_kernel(
      *kept,
      stream,
      [](void* data) { run(*static_cast<const Plan*>(data)); },
      kept);
}

void put_on_stream(Plan plan, cudaStream_t stream) {
  auto owned = std::make_unique<Plan>(std::move(plan));
  launch_kernel(
      *owned,
      stream,
      [](void* data) {
        const std::unique_ptr<Plan> plan(static_cast<Plan*>(data));
        run(*plan);
      },
      owned.get());
  static_cast<void>(owned.release());
}

/// Operations of a communicator run in the order of the calls, whatever streams
/// they are on: the next one waits for the last one.
class InOrder {
 public:
  InOrder(Mark& last, cudaStream_t stream, unsigned long long capture)
      : last_(last), next_{last.event, stream, capture} {
    if (last.event == nullptr) {
      check(cudaEventCreateWithFlags(&last.event, cudaEventDisableTiming));
      next_.event = last.event;
    } else if (last.capture == capture && last.stream != stream) {
      check(cudaStreamWaitEvent(stream, last.event, 0));
    }
  }
  /// The operation is on its stream. Should it have brought the device down
  /// already, the next call says so.
  void mark() {
    if (cudaEventRecord(next_.event, next_.stream) == cudaSuccess) {
      last_ = next_;
    }
  }

 private:
  Mark& last_;
  Mark next_;
};

void launch_plan(Plan plan) {
  const std::shared_ptr<Communicator> own = plan.communicator;
  const DeviceGuard device(own->device());
  const std::vector<cudaStream_t> streams = streams_of(plan);
  const cudaStream_t stream = streams.front();
  for (std::size_t i = 1; i < streams.size(); ++i) {
    order(streams[i], stream);
  }
  // The driver's, which is the same for each major version of the runtime.
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t capture = 0;
  CUgraph graph = nullptr;
  check(static_cast<cudaError_t>(cuStreamGetCaptureInfo_v2(
      stream, &status, &capture, &graph, nullptr, nullptr)));
  {
    const std::lock_guard lock(own->launching);
    if (status == CU_STREAM_CAPTURE_STATUS_NONE) {
      InOrder in_order(own->last, stream, 0);
      put_on_stream(std::move(plan), stream);
      in_order.mark();
    } else {
      InOrder in_order(own->last_captured, stream, capture);
      put_into_graph(std::move(plan), stream, graph);
      in_order.mark();
    }
  }
  for (std::size_t i = 1; i < streams.size(); ++i) {
    order(stream, streams[i]);
  }
}

bool is_being_captured(const Plan& plan) {
  const DeviceGuard device(plan.communicator->device());
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(plan.operations.front().stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

/// On a device that works on the calling thread (CUDASIM_SYNC=1) only one piece
/// of work runs at a time in the process, so one that waits for another rank's
/// would wait for ever. All that was there before is done.
void run_all_now(const std::vector<Plan>& plans) {
  std::vector<std::thread> threads;
  for (const Plan& plan : plans) {
    threads.push_back(start_thread([&plan] { run(plan); }));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

} // namespace

void launch(std::vector<Plan> plans) {
  if (runtime::machine().device(0).synchronous() &&
      std::none_of(plans.begin(), plans.end(), is_being_captured)) {
    run_all_now(plans);
    return;
  }
  for (Plan& plan : plans) {
    launch_plan(std::move(plan));
  }
}

} // namespace accelerator::nccl
