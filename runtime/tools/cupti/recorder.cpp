#include "runtime/tools/cupti/recorder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <new>
#include <type_traits>
#include <variant>
#include <vector>

#include "runtime/tools/cupti/callback_names.h"
#include "runtime/tools/cupti/records.h"
#include "runtime/tools/cupti/subscriber.h"

namespace accelerator::cupti {
namespace {

namespace tracing = runtime::tracing;

using ExternalIds = std::
    array<std::vector<std::uint64_t>, CUPTI_EXTERNAL_CORRELATION_KIND_SIZE>;

ExternalIds& external_ids() {
  static thread_local ExternalIds ids;
  return ids;
}

std::uint32_t thread_id(bool system) {
  static thread_local const auto by_system =
      static_cast<std::uint32_t>(syscall(SYS_gettid));
  return system ? by_system : static_cast<std::uint32_t>(pthread_self());
}

std::uint8_t memory_kind(const tracing::Place& place) {
  switch (place.kind) {
    case tracing::Place::Kind::kPageable:
      return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    case tracing::Place::Kind::kPinned:
      return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    case tracing::Place::Kind::kDevice:
      return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    case tracing::Place::Kind::kManaged:
      return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    case tracing::Place::Kind::kArray:
      return CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
  }
  return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
}

// Whether no other device has it.
bool of_device(const tracing::Place& place) {
  return place.kind == tracing::Place::Kind::kDevice ||
      place.kind == tracing::Place::Kind::kArray;
}

// Where the bytes lie says more than what the program called it, which may be
// cudaMemcpyDefault. Managed memory lies where the program says.
std::uint8_t copy_kind(const tracing::CopyPart& part) {
  const auto is_array = [](const tracing::Place& place) {
    return place.kind == tracing::Place::Kind::kArray;
  };
  const auto on_device = [](const tracing::Place& place, bool if_managed) {
    return place.kind == tracing::Place::Kind::kDevice ||
        (place.kind == tracing::Place::Kind::kManaged && if_managed);
  };
  const bool from = on_device(
      part.from,
      part.direction == cudaMemcpyDeviceToHost ||
          part.direction == cudaMemcpyDeviceToDevice);
  const bool to = on_device(
      part.to,
      part.direction == cudaMemcpyHostToDevice ||
          part.direction == cudaMemcpyDeviceToDevice);
  if (is_array(part.from)) {
    return is_array(part.to) ? CUPTI_ACTIVITY_MEMCPY_KIND_ATOA
        : to                 ? CUPTI_ACTIVITY_MEMCPY_KIND_ATOD
                             : CUPTI_ACTIVITY_MEMCPY_KIND_ATOH;
  }
  if (is_array(part.to)) {
    return from ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOA
                : CUPTI_ACTIVITY_MEMCPY_KIND_HTOA;
  }
  if (from) {
    return to ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
              : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  }
  return to ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

// What kernels, copies and fills have in common.
template <typename Record>
Record begin_record(CUpti_ActivityKind kind, const tracing::WorkRecord& work) {
  Record record{};
  record.kind = kind;
  record.start = work.start;
  record.end = work.end;
  record.deviceId = static_cast<std::uint32_t>(work.device);
  record.contextId = context_id(work.device);
  record.streamId = static_cast<std::uint32_t>(work.origin.stream);
  record.correlationId = work.origin.correlation;
  record.graphNodeId = work.origin.node;
  record.graphId = work.origin.graph;
  record.channelID = CUPTI_INVALID_CHANNEL_ID;
  record.channelType = CUPTI_CHANNEL_TYPE_INVALID;
  return record;
}

} // namespace

bool Recorder::supports(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
    case CUPTI_ACTIVITY_KIND_MEMSET:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
    // Of these there never is one: nothing is done for the profiler's sake
    // alone that takes a device's time.
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return true;
    default:
      return false;
  }
}

void Recorder::enable(CUpti_ActivityKind kind, bool enabled) {
  const std::lock_guard lock(enable_mutex_);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
    calls_of(tracing::Interface::kRuntime).set_all(enabled);
  } else if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    calls_of(tracing::Interface::kDriver).set_all(enabled);
  } else {
    const std::uint64_t bit = std::uint64_t{1} << kind;
    kinds_ = enabled ? kinds_ | bit : kinds_ & ~bit;
  }
  watch();
}

void Recorder::enable_call(
    tracing::Interface interface,
    CUpti_CallbackId callback,
    bool enabled) {
  const std::lock_guard lock(enable_mutex_);
  calls_of(interface).set(callback, enabled);
  watch();
}

void Recorder::disable_all() {
  subscriber().leave();
  const std::lock_guard lock(enable_mutex_);
  kinds_ = 0;
  for (CallbackSet& calls : calls_) {
    calls.set_all(false);
  }
  subscriber_ = false;
  event_times_ = false;
  watch();
}

void Recorder::watch_for_subscriber(bool wanted) {
  const std::lock_guard lock(enable_mutex_);
  subscriber_ = wanted;
  watch();
}

void Recorder::watch() {
  const bool wanted =
      kinds_ != 0 || calls_[0].any() || calls_[1].any() || subscriber_;
  tracing::set_observer(wanted ? this : nullptr);
}

void Recorder::forget_parent() {
  // A thread that the child does not have may hold the locks for good.
  new (&enable_mutex_) std::mutex;
  new (&names_mutex_) std::mutex;
  subscriber().forget_parent();
  disable_all();
  buffers_.forget();
}

std::uint64_t Recorder::now() noexcept {
  if (const auto clock = clock_.load(std::memory_order_relaxed)) {
    return clock();
  }
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
      static_cast<std::uint64_t>(time.tv_nsec);
}

void Recorder::begin(tracing::CallRecord& call) noexcept {
  // Before the records of the work, which may be done when the call returns:
  // Kineto of PyTorch 2.9 finds the operator of a record in those before it.
  if (enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    write_external_ids(call.correlation);
  }
  subscriber().tell(CUPTI_API_ENTER, call);
}

void Recorder::call(const tracing::CallRecord& call) noexcept {
  write_call(call);
  // At last, as the subscriber may end the trace from here.
  tracing::CallRecord last = call;
  subscriber().tell(CUPTI_API_EXIT, last);
}

void Recorder::write_call(const tracing::CallRecord& call) {
  const CallbackSet& calls = calls_of(call.interface);
  if (!calls.any()) {
    return;
  }
  const CUpti_CallbackId callback = callback_of(call.interface, call.function);
  // 0 is what CUPTI does not know, such as what nvcc registers kernels with.
  if (callback == 0 || !calls.has(callback)) {
    return;
  }
  CUpti_ActivityAPI record{};
  record.kind = call.interface == tracing::Interface::kRuntime
      ? CUPTI_ACTIVITY_KIND_RUNTIME
      : CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = callback;
  record.start = call.start;
  record.end = call.end;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = thread_id(system_thread_ids_);
  record.correlationId = call.correlation;
  record.returnValue = static_cast<std::uint32_t>(call.result);
  buffers_.write(record);
}

// No record is without a part, which is what visit() throws for.
// NOLINTNEXTLINE(bugprone-exception-escape)
void Recorder::work(const tracing::WorkRecord& record) noexcept {
  std::visit(
      [&](const auto& part) {
        using Part = std::decay_t<decltype(part)>;
        if constexpr (std::is_same_v<Part, tracing::KernelPart>) {
          write_kernel(record, part);
        } else if constexpr (std::is_same_v<Part, tracing::FillPart>) {
          write_fill(record, part);
        } else if (
            of_device(part.from) && of_device(part.to) &&
            part.from.device != part.to.device) {
          write_peer_copy(record, part);
        } else {
          write_copy(record, part);
        }
      },
      record.part);
}

void Recorder::wait(const tracing::WaitRecord& wait) noexcept {
  if (!enabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) {
    return;
  }
  using Kind = tracing::WaitRecord::Kind;
  WaitRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  switch (wait.kind) {
    case Kind::kEvent:
      record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
      break;
    case Kind::kStreamForEvent:
      record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
      break;
    case Kind::kStream:
      record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
      break;
    case Kind::kDevice:
      record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
      break;
  }
  const auto id_or_none = [](std::uint64_t id) {
    return id == 0
        ? static_cast<std::uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE)
        : static_cast<std::uint32_t>(id);
  };
  record.start = wait.start;
  record.end = wait.end;
  record.correlationId = wait.correlation;
  record.contextId = context_id(wait.device);
  record.streamId = id_or_none(wait.stream);
  record.cudaEventId = id_or_none(wait.event);
  buffers_.write(record);
}

void Recorder::event(const tracing::EventRecord& event) noexcept {
  if (!enabled(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) {
    return;
  }
  EventRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  record.correlationId = event.correlation;
  record.contextId = context_id(event.device);
  record.streamId = static_cast<std::uint32_t>(event.stream);
  record.eventId = static_cast<std::uint32_t>(event.event);
#if CUPTI_API_VERSION >= 130000
  record.deviceId = static_cast<std::uint32_t>(event.device);
  record.deviceTimestamp = event.reached;
#endif
  buffers_.write(record);
}

const char* Recorder::lasting(const std::string& name) {
  const std::lock_guard lock(names_mutex_);
  return names_.insert(name).first->c_str();
}

void Recorder::write_kernel(
    const tracing::WorkRecord& work,
    const tracing::KernelPart& part) {
  const CUpti_ActivityKind kind = enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
      : CUPTI_ACTIVITY_KIND_KERNEL;
  if (!enabled(kind)) {
    return;
  }
  const auto size = [](auto bytes) { return static_cast<std::int32_t>(bytes); };
  auto record = begin_record<KernelRecord>(kind, work);
  record.completed = work.end;
  record.registersPerThread = static_cast<std::uint16_t>(part.registers);
  record.gridX = size(part.grid[0]);
  record.gridY = size(part.grid[1]);
  record.gridZ = size(part.grid[2]);
  record.blockX = size(part.block[0]);
  record.blockY = size(part.block[1]);
  record.blockZ = size(part.block[2]);
  record.staticSharedMemory = size(part.static_shared_bytes);
  record.dynamicSharedMemory = size(part.dynamic_shared_bytes);
  record.sharedMemoryExecuted = static_cast<std::uint32_t>(
      part.static_shared_bytes + part.dynamic_shared_bytes);
  record.localMemoryPerThread = static_cast<std::uint32_t>(part.local_bytes);
  record.gridId = CUPTI_GRID_ID_UNKNOWN;
  record.name = lasting(part.name);
  record.queued = CUPTI_TIMESTAMP_UNKNOWN;
  record.submitted = CUPTI_TIMESTAMP_UNKNOWN;
  record.launchType = static_cast<std::uint8_t>(
      part.cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                       : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
  buffers_.write(record);
}

void Recorder::write_copy(
    const tracing::WorkRecord& work,
    const tracing::CopyPart& part) {
  if (!enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) {
    return;
  }
  auto record = begin_record<CopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY, work);
  record.copyKind = copy_kind(part);
  record.srcKind = memory_kind(part.from);
  record.dstKind = memory_kind(part.to);
  record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  record.bytes = part.bytes;
#if CUPTI_API_VERSION >= 130000
  record.copyCount = 1;
#endif
  buffers_.write(record);
}

void Recorder::write_peer_copy(
    const tracing::WorkRecord& work,
    const tracing::CopyPart& part) {
  if (!enabled(CUPTI_ACTIVITY_KIND_MEMCPY2)) {
    return;
  }
  auto record = begin_record<PeerCopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY2, work);
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.srcKind = memory_kind(part.from);
  record.dstKind = memory_kind(part.to);
  record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  record.bytes = part.bytes;
  record.srcDeviceId = static_cast<std::uint32_t>(part.from.device);
  record.srcContextId = context_id(part.from.device);
  record.dstDeviceId = static_cast<std::uint32_t>(part.to.device);
  record.dstContextId = context_id(part.to.device);
  buffers_.write(record);
}

void Recorder::write_fill(
    const tracing::WorkRecord& work,
    const tracing::FillPart& part) {
  if (!enabled(CUPTI_ACTIVITY_KIND_MEMSET)) {
    return;
  }
  auto record = begin_record<FillRecord>(CUPTI_ACTIVITY_KIND_MEMSET, work);
  record.value = part.value;
  record.bytes = part.bytes;
  record.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
  record.memoryKind = memory_kind(part.to);
  buffers_.write(record);
}

void Recorder::write_external_ids(std::uint32_t correlation) {
  const ExternalIds& ids = external_ids();
  for (std::size_t kind = 0; kind < ids.size(); ++kind) {
    if (!ids[kind].empty()) {
      CUpti_ActivityExternalCorrelation record{};
      record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
      record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
      record.externalId = ids[kind].back();
      record.correlationId = correlation;
      buffers_.write(record);
    }
  }
}

Recorder& recorder() {
  static auto* const instance = [] {
    auto* made = new Recorder; // outlives static destructors
    pthread_atfork(nullptr, nullptr, [] { recorder().forget_parent(); });
    return made;
  }();
  return *instance;
}

void push_external_id(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  external_ids().at(kind).push_back(id);
}

bool pop_external_id(CUpti_ExternalCorrelationKind kind, std::uint64_t* id) {
  auto& ids = external_ids().at(kind);
  if (ids.empty()) {
    return false;
  }
  if (id != nullptr) {
    *id = ids.back();
  }
  ids.pop_back();
  return true;
}

} // namespace accelerator::cupti
