#include "profiler/timeline/session.h"

#include <c10/util/ApproximateClock.h>
#include <c10/util/Exception.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "profiler/timeline/devices.h"
#include "profiler/timeline/trace_builder.h"

namespace libkineto {
// From the clock of torch's profiler to nanoseconds since 1970; torch sets it
// before traces are made. Kineto installs no header that declares it.
std::function<std::int64_t(c10::approx_time_t)>& get_time_converter();
} // namespace libkineto

namespace torch_cuda::profiler {
namespace {

using libkineto::ActivityType;

struct Kind {
  ActivityType type;
  CUpti_ActivityKind kind;
};

constexpr Kind kKinds[] = {
    {ActivityType::CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
    {ActivityType::GPU_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY},
    {ActivityType::GPU_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2},
    {ActivityType::GPU_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET},
    {ActivityType::CUDA_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME},
    {ActivityType::CUDA_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER},
    {ActivityType::CUDA_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
    {ActivityType::CUDA_SYNC, CUPTI_ACTIVITY_KIND_CUDA_EVENT},
    {ActivityType::OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD},
};

struct Current {
  std::mutex mutex;
  Session* session = nullptr;
};

Current& current() {
  static auto* instance = new Current(); // kineto's own statics end later
  return *instance;
}

// CUPTI belongs to the process that began to use it.
bool is_forked_child() {
  static std::atomic<bool> forked{false};
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forked = true; });
  static_cast<void>(registered);
  return forked.load(std::memory_order_relaxed);
}

std::uint64_t approximate_time() {
  return static_cast<std::uint64_t>(c10::getApproximateTime());
}

} // namespace

bool is_wanted(const std::set<ActivityType>& types) {
  // Calls of the runtime are also among what kineto asks for when the CPU alone
  // is profiled, which must work without a device and without CUPTI.
  return types.count(ActivityType::CONCURRENT_KERNEL) != 0 ||
      types.count(ActivityType::GPU_MEMCPY) != 0 ||
      types.count(ActivityType::GPU_MEMSET) != 0;
}

void toggle_current_session(bool enable) {
  const std::lock_guard lock(current().mutex);
  if (current().session != nullptr) {
    current().session->toggle(enable);
  }
}

Session::Session(
    const CuptiLibrary& cupti,
    std::set<ActivityType> types,
    std::size_t buffer_bytes,
    bool stream_waits)
    : cupti_(cupti), types_(std::move(types)), stream_waits_(stream_waits) {
  is_forked_child(); // begins to look
  limit_record_buffers(buffer_bytes);
  check(lend_record_buffers(cupti_), "to lend buffers");
  check(
      cupti_.cuptiActivityRegisterTimestampCallback(approximate_time),
      "to use torch's clock");
  // The numbers by which torch knows threads.
  check(
      cupti_.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM),
      "to name threads");
  enable();
  const std::lock_guard lock(current().mutex);
  current().session = this;
}

Session::~Session() {
  {
    const std::lock_guard lock(current().mutex);
    if (current().session == this) {
      current().session = nullptr;
    }
  }
  if (!enabled_.empty() && !is_forked_child()) {
    disable(); // a profile that was prepared and never run
    cupti_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    take_record_buffers();
  }
}

void Session::start() {
  cupti_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  take_record_buffers();
  std::size_t dropped = 0;
  cupti_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
}

void Session::stop() {
  if (is_forked_child()) {
    return;
  }
  check(
      cupti_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
      "to flush its buffers");
  {
    const std::lock_guard lock(current().mutex);
    disable();
    current().session = nullptr;
  }
  // What ended in between.
  cupti_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  buffers_ = take_record_buffers();
  std::size_t dropped = 0;
  cupti_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  if (dropped > 0) {
    errors_.push_back(
        "found " + std::to_string(dropped) +
        " activities of CUDA more than the profiler keeps; needed: a shorter "
        "profile (torch.profiler.schedule), or more memory: set "
        "KINETO_CONFIG to a file with ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=512");
    TORCH_WARN("The profile is not complete: ", errors_.back());
  }
}

std::vector<std::string> Session::errors() {
  return errors_;
}

void Session::processTrace(libkineto::ActivityLogger& logger) {
  processTrace(logger, nullptr, 0, std::numeric_limits<std::int64_t>::max());
}

void Session::processTrace(
    libkineto::ActivityLogger& logger,
    libkineto::getLinkedActivityCallback cpu_activity,
    std::int64_t start,
    std::int64_t end) {
  TraceRequest request;
  request.types = types_;
  request.stream_waits = stream_waits_;
  request.start = start;
  request.end = end;
  request.to_time = [convert =
                         libkineto::get_time_converter()](std::uint64_t time) {
    return convert(static_cast<c10::approx_time_t>(time));
  };
  request.cpu_activity = std::move(cpu_activity);
  TraceBuilder builder(cupti_, std::move(request));
  for (const RecordBuffer& buffer : buffers_) {
    CUpti_Activity* record = nullptr;
    while (cupti_.cuptiActivityGetNextRecord(
               buffer.memory.get(), buffer.bytes, &record) == CUPTI_SUCCESS) {
      builder.add(record);
    }
  }
  builder.finish(logger);
  streams_ = builder.streams();
  buffers_.clear();
}

std::unique_ptr<libkineto::DeviceInfo> Session::getDeviceInfo() {
  return nullptr; // kineto names GPUs by itself
}

std::vector<libkineto::ResourceInfo> Session::getResourceInfos() {
  std::vector<libkineto::ResourceInfo> infos;
  for (const auto& [device, stream] : streams_) {
    infos.emplace_back(
        device, stream, stream, "stream " + std::to_string(stream) + " ");
  }
  return infos;
}

std::unique_ptr<libkineto::CpuTraceBuffer> Session::getTraceBuffer() {
  return nullptr; // loggers have copies of all
}

std::string Session::getDeviceProperties() {
  return device_properties_json();
}

void Session::pushCorrelationId(std::uint64_t id) {
  if (!is_forked_child()) {
    cupti_.cuptiActivityPushExternalCorrelationId(
        CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id);
  }
}

void Session::popCorrelationId() {
  if (!is_forked_child()) {
    std::uint64_t id = 0;
    cupti_.cuptiActivityPopExternalCorrelationId(
        CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
  }
}

void Session::pushUserCorrelationId(std::uint64_t id) {
  if (!is_forked_child()) {
    cupti_.cuptiActivityPushExternalCorrelationId(
        CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, id);
  }
}

void Session::popUserCorrelationId() {
  if (!is_forked_child()) {
    std::uint64_t id = 0;
    cupti_.cuptiActivityPopExternalCorrelationId(
        CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &id);
  }
}

void Session::toggle(bool on) {
  if (on && enabled_.empty()) {
    enable();
  } else if (!on) {
    disable();
  }
}

void Session::enable() {
  const auto enable_kind = [&](CUpti_ActivityKind kind) {
    const CUptiResult result = cupti_.cuptiActivityEnable(kind);
    check(result, "to record");
    if (result == CUPTI_SUCCESS) {
      enabled_.push_back(kind);
    }
  };
  for (const Kind& kind : kKinds) {
    if (types_.count(kind.type) != 0) {
      enable_kind(kind.kind);
    }
  }
  // Without these nothing is known about who launched what.
  enable_kind(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
}

void Session::disable() {
  for (const CUpti_ActivityKind kind : std::exchange(enabled_, {})) {
    cupti_.cuptiActivityDisable(kind);
  }
}

void Session::check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) {
    return;
  }
  const std::string text = cupti_.text_of(result);
  errors_.push_back("CUPTI was asked " + std::string(what) + ": " + text);
  TORCH_WARN_ONCE(
      "Profiles lack activities of CUDA: found ",
      text,
      " when CUPTI was asked ",
      what,
      result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
          ? "; needed: the permission to use performance counters (NVIDIA's "
            "ERR_NVGPUCTRPERM page tells an administrator what to type)"
          : "; needed: a CUPTI that fits the driver, "
            "python -m pip install --upgrade nvidia-cuda-cupti-cu12");
}

} // namespace torch_cuda::profiler
