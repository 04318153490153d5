#include "profiler/timeline/trace_builder.h"

#include <algorithm>
#include <utility>

namespace torch_cuda::profiler {
namespace {

using libkineto::ActivityType;

// Called all the time, and never of interest; PyTorch leaves out the same.
bool is_boring(CUpti_CallbackId callback) {
  switch (callback) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020:
      return true;
    default:
      return false;
  }
}

// Of the driver's calls only those that launch: the runtime makes the others.
bool is_launch(CUpti_CallbackId callback) {
  switch (callback) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      return true;
    default:
      return false;
  }
}

// The id of an activity, the same for a call and its work. torch looks for an
// operator's id among all of the host's activities, so calls must not have one
// of those, which count up from 1 as CUPTI's do.
std::int32_t activity_id(std::uint32_t correlation) {
  constexpr std::uint32_t kAboveOperators = 1u << 30;
  return static_cast<std::int32_t>(
      (correlation % kAboveOperators) | kAboveOperators);
}

std::uint32_t correlation_of(const CUpti_Activity* work) {
  switch (work->kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return reinterpret_cast<const CUpti_ActivityMemcpy5*>(work)
          ->correlationId;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(work)
          ->correlationId;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return reinterpret_cast<const CUpti_ActivityMemset4*>(work)
          ->correlationId;
    default:
      return reinterpret_cast<const CUpti_ActivityKernel9*>(work)
          ->correlationId;
  }
}

} // namespace

TraceBuilder::TraceBuilder(const CuptiLibrary& cupti, TraceRequest request)
    : cupti_(cupti), request_(std::move(request)) {}

void TraceBuilder::add(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* kernel =
          reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      device_of_context_[kernel->contextId] = kernel->deviceId;
      work_.push_back(record);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
    case CUPTI_ACTIVITY_KIND_MEMSET:
      work_.push_back(record);
      break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      calls_.push_back(reinterpret_cast<const CUpti_ActivityAPI*>(record));
      break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      waits_.push_back(
          reinterpret_cast<const CUpti_ActivitySynchronization*>(record));
      break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      overheads_.push_back(
          reinterpret_cast<const CUpti_ActivityOverhead3*>(record));
      break;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: {
      const auto* event =
          reinterpret_cast<const CUpti_ActivityCudaEvent*>(record);
      events_[{event->contextId, event->eventId}] = {
          event->streamId, event->correlationId};
      break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto* external =
          reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      auto& ids =
          external->externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
          ? operator_ids_
          : annotation_ids_;
      ids[external->correlationId] = external->externalId;
      break;
    }
    default:
      break; // of kinds that nobody asked for here
  }
}

void TraceBuilder::finish(libkineto::ActivityLogger& logger) {
  logger_ = &logger;
  // An arrow needs both of its ends. Ids of arrows are unique in a trace, and
  // have 27 bits, which CUPTI's ids may have outgrown.
  for (const CUpti_ActivityAPI* call : calls_) {
    flows_[call->correlationId] = 0;
  }
  std::uint32_t next = 0;
  for (const CUpti_Activity* work : work_) {
    const auto found = flows_.find(correlation_of(work));
    if (found != flows_.end() && found->second == 0) {
      found->second = ++next;
    }
  }
  for (const CUpti_ActivityAPI* call : calls_) {
    add_call(
        *call,
        call->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? ActivityType::CUDA_RUNTIME
                                                  : ActivityType::CUDA_DRIVER);
  }
  for (const CUpti_Activity* work : work_) {
    switch (work->kind) {
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        add_work(
            *reinterpret_cast<const CUpti_ActivityMemcpy5*>(work),
            ActivityType::GPU_MEMCPY,
            [](const auto& copy, double ns) { return details_of(copy, ns); });
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        add_work(
            *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(work),
            ActivityType::GPU_MEMCPY,
            [](const auto& copy, double ns) { return details_of(copy, ns); });
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        add_work(
            *reinterpret_cast<const CUpti_ActivityMemset4*>(work),
            ActivityType::GPU_MEMSET,
            [](const auto& fill, double ns) { return details_of(fill, ns); });
        break;
      default:
        add_work(
            *reinterpret_cast<const CUpti_ActivityKernel9*>(work),
            ActivityType::CONCURRENT_KERNEL,
            [](const auto& kernel, double) { return details_of(kernel); });
    }
  }
  for (const CUpti_ActivitySynchronization* wait : waits_) {
    add_wait(*wait);
  }
  for (const CUpti_ActivityOverhead3* overhead : overheads_) {
    add_overhead(*overhead);
  }
  log_user_spans();
}

template <typename Record, typename Details>
void TraceBuilder::add_work(
    const Record& record,
    ActivityType type,
    const Details& details) {
  if (!wants(type) || !in_window(record.start, record.end)) {
    return;
  }
  const auto nanoseconds = static_cast<double>(
      request_.to_time(record.end) - request_.to_time(record.start));
  libkineto::GenericTraceActivity activity = make(
      type,
      name_of(record),
      details(record, nanoseconds),
      record.start,
      record.end);
  activity.device = static_cast<std::int32_t>(record.deviceId);
  activity.resource = static_cast<std::int32_t>(record.streamId);
  activity.id = activity_id(record.correlationId);
  activity.linked = linked(record.correlationId);
  set_flow(activity, record.correlationId, false);
  streams_.insert({activity.device, activity.resource});
  extend_user_span(activity, record.correlationId);
  logger_->handleGenericActivity(activity);
}

void TraceBuilder::add_call(const CUpti_ActivityAPI& call, ActivityType type) {
  const bool of_runtime = type == ActivityType::CUDA_RUNTIME;
  if (!wants(type) || !in_window(call.start, call.end) ||
      (of_runtime ? is_boring(call.cbid) : !is_launch(call.cbid))) {
    return;
  }
  libkineto::GenericTraceActivity activity = make(
      type,
      call_name(
          of_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
          call.cbid),
      details_of(call),
      call.start,
      call.end);
  activity.device = libkineto::processId();
  activity.resource = static_cast<std::int32_t>(call.threadId);
  activity.threadId = static_cast<std::int32_t>(call.threadId);
  activity.id = activity_id(call.correlationId);
  activity.linked = linked(call.correlationId);
  set_flow(activity, call.correlationId, true);
  logger_->handleGenericActivity(activity);
}

void TraceBuilder::add_wait(const CUpti_ActivitySynchronization& wait) {
  const bool of_stream =
      wait.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  if (!wants(ActivityType::CUDA_SYNC) || !in_window(wait.start, wait.end) ||
      (of_stream && !request_.stream_waits)) {
    return;
  }
  const auto context = device_of_context_.find(wait.contextId);
  const std::uint32_t device =
      context == device_of_context_.end() ? 0 : context->second;
  const auto stream = static_cast<std::int32_t>(wait.streamId);
  if (of_stream && streams_.count({device, stream}) == 0) {
    return; // of a stream on which nothing ran
  }
  EventOrigin origin;
  const auto event = events_.find({wait.contextId, wait.cudaEventId});
  if (event != events_.end()) {
    origin = event->second;
  }
  libkineto::GenericTraceActivity activity = make(
      ActivityType::CUDA_SYNC,
      name_of(wait),
      details_of(wait, device, origin),
      wait.start,
      wait.end);
  activity.device = static_cast<std::int32_t>(device);
  activity.resource = stream;
  activity.id = activity_id(wait.correlationId);
  activity.linked = linked(wait.correlationId);
  logger_->handleGenericActivity(activity);
}

void TraceBuilder::add_overhead(const CUpti_ActivityOverhead3& overhead) {
  if (!wants(ActivityType::OVERHEAD) ||
      !in_window(overhead.start, overhead.end)) {
    return;
  }
  libkineto::GenericTraceActivity activity = make(
      ActivityType::OVERHEAD,
      name_of(overhead),
      "",
      overhead.start,
      overhead.end);
  activity.device = -1; // where tools expect CUPTI's overhead
  logger_->handleGenericActivity(activity);
}

// The annotations of a user, as far as their work reaches on each stream.
void TraceBuilder::extend_user_span(
    const libkineto::GenericTraceActivity& work,
    std::uint32_t correlation) {
  const auto id = annotation_ids_.find(correlation);
  if (!wants(ActivityType::GPU_USER_ANNOTATION) ||
      id == annotation_ids_.end() || !request_.cpu_activity) {
    return;
  }
  const auto* annotation =
      request_.cpu_activity(static_cast<std::int32_t>(id->second));
  if (annotation == nullptr) {
    return;
  }
  auto& spans = user_spans_[{work.device, work.resource}];
  const auto [found, is_new] = spans.try_emplace(
      id->second,
      make_activity(ActivityType::GPU_USER_ANNOTATION, annotation->name(), ""));
  libkineto::GenericTraceActivity& span = found->second;
  if (is_new) {
    span.startTime = work.startTime;
    span.device = work.device;
    span.resource = work.resource;
    span.id = static_cast<std::int32_t>(annotation->correlationId());
  }
  span.startTime = std::min(span.startTime, work.startTime);
  span.endTime = std::max(span.endTime, work.endTime);
}

void TraceBuilder::log_user_spans() {
  for (const auto& [stream, spans] : user_spans_) {
    for (const auto& [id, span] : spans) {
      logger_->handleGenericActivity(span);
    }
  }
}

libkineto::GenericTraceActivity TraceBuilder::make(
    ActivityType type,
    const std::string& name,
    const std::string& details,
    std::uint64_t start,
    std::uint64_t end) const {
  auto activity = make_activity(type, name, details);
  activity.startTime = request_.to_time(start);
  activity.endTime = request_.to_time(end);
  return activity;
}

bool TraceBuilder::in_window(std::uint64_t start, std::uint64_t end) const {
  return request_.to_time(end) >= request_.start &&
      request_.to_time(start) <= request_.end;
}

const libkineto::ITraceActivity* TraceBuilder::linked(
    std::uint32_t correlation) const {
  const auto id = operator_ids_.find(correlation);
  return id == operator_ids_.end() || !request_.cpu_activity
      ? nullptr
      : request_.cpu_activity(static_cast<std::int32_t>(id->second));
}

const std::string& TraceBuilder::call_name(
    CUpti_CallbackDomain domain,
    CUpti_CallbackId callback) {
  std::string& name =
      call_names_[(static_cast<std::uint64_t>(domain) << 32) | callback];
  if (name.empty()) {
    const char* known = nullptr;
    cupti_.cuptiGetCallbackName(domain, callback, &known);
    name = known != nullptr ? known : "unknown";
    // "cudaLaunchKernel_v7000": since when it is like this is of no interest.
    const std::size_t since = name.rfind("_v");
    if (since != std::string::npos && name.size() - since > 5) {
      name.resize(since);
    }
  }
  return name;
}

void TraceBuilder::set_flow(
    libkineto::GenericTraceActivity& activity,
    std::uint32_t correlation,
    bool start) const {
  const auto flow = flows_.find(correlation);
  if (flow != flows_.end() && flow->second != 0) {
    activity.flow.id = flow->second;
    activity.flow.type = libkineto::kLinkAsyncCpuGpu;
    activity.flow.start = start ? 1 : 0;
  }
}

} // namespace torch_cuda::profiler
