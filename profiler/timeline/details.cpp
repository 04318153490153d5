#include "profiler/timeline/details.h"

#include <c10/util/Type.h>

#include <sstream>

#include "profiler/timeline/devices.h"

namespace torch_cuda::profiler {
namespace {

const char* direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "HtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "AtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return "AtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
      return "AtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "DtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "PtoP";
    default:
      return "<unknown>";
  }
}

const char* memory(unsigned kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN:
      return "Unknown";
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
      return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
      return "Managed";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "Device Static";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return "Managed Static";
    default:
      return "Unrecognized";
  }
}

template <typename Copy>
std::string copy_name(const Copy& copy) {
  return std::string("Memcpy ") + direction(copy.copyKind) + " (" +
      memory(copy.srcKind) + " -> " + memory(copy.dstKind) + ")";
}

// "bytes" and what they make a second; bytes a nanosecond are GB/s.
void add_bytes(std::ostream& out, std::uint64_t bytes, double nanoseconds) {
  out << ", \"bytes\": " << bytes << ", \"memory bandwidth (GB/s)\": ";
  if (nanoseconds > 0) {
    out << static_cast<double>(bytes) / nanoseconds;
  } else {
    out << "\"N/A\"";
  }
}

template <typename Record>
void add_place(std::ostream& out, const Record& record) {
  out << "\"device\": " << record.deviceId
      << ", \"context\": " << record.contextId
      << ", \"stream\": " << record.streamId
      << ", \"correlation\": " << record.correlationId;
}

bool is_of_event(const CUpti_ActivitySynchronization& wait) {
  return wait.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE ||
      wait.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
}

} // namespace

std::string name_of(const CUpti_ActivityKernel9& kernel) {
  return kernel.name == nullptr ? "" : c10::demangle(kernel.name);
}

std::string name_of(const CUpti_ActivityMemcpy5& copy) {
  return copy_name(copy);
}

std::string name_of(const CUpti_ActivityMemcpyPtoP4& copy) {
  return copy_name(copy);
}

std::string name_of(const CUpti_ActivityMemset4& fill) {
  return std::string("Memset (") + memory(fill.memoryKind) + ")";
}

std::string name_of(const CUpti_ActivitySynchronization& wait) {
  switch (wait.type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return "Event Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return "Stream Wait Event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return "Stream Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "Context Sync";
    default:
      return "Unknown Sync";
  }
}

std::string name_of(const CUpti_ActivityOverhead3& overhead) {
  switch (overhead.overheadKind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "Driver Compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "Buffer Flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "Instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "Resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "Runtime Triggered Module Loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "Lazy Function Loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "Command Buffer Full";
    default:
      return "Unknown";
  }
}

std::string details_of(const CUpti_ActivityKernel9& kernel) {
  std::ostringstream out;
  out << "\"queued\": " << kernel.queued << ", ";
  add_place(out, kernel);
  out << ", \"registers per thread\": " << kernel.registersPerThread
      << ", \"shared memory\": "
      << kernel.staticSharedMemory + kernel.dynamicSharedMemory;
  if (const auto load = load_of(kernel)) {
    out << ", \"blocks per SM\": " << load->blocks
        << ", \"warps per SM\": " << load->warps;
    if (load->occupancy_percent >= 0) {
      out << ", \"est. achieved occupancy %\": " << load->occupancy_percent;
    }
  }
  out << ", \"grid\": [" << kernel.gridX << ", " << kernel.gridY << ", "
      << kernel.gridZ << "], \"block\": [" << kernel.blockX << ", "
      << kernel.blockY << ", " << kernel.blockZ << "]";
  if (kernel.graphId != 0) {
    out << ", \"graph id\": " << kernel.graphId
        << ", \"graph node id\": " << kernel.graphNodeId;
  }
  return out.str();
}

std::string details_of(const CUpti_ActivityMemcpy5& copy, double nanoseconds) {
  std::ostringstream out;
  add_place(out, copy);
  add_bytes(out, copy.bytes, nanoseconds);
  return out.str();
}

std::string details_of(
    const CUpti_ActivityMemcpyPtoP4& copy,
    double nanoseconds) {
  std::ostringstream out;
  out << "\"fromDevice\": " << copy.srcDeviceId
      << ", \"inDevice\": " << copy.deviceId
      << ", \"toDevice\": " << copy.dstDeviceId
      << ", \"fromContext\": " << copy.srcContextId
      << ", \"inContext\": " << copy.contextId
      << ", \"toContext\": " << copy.dstContextId
      << ", \"stream\": " << copy.streamId
      << ", \"correlation\": " << copy.correlationId;
  add_bytes(out, copy.bytes, nanoseconds);
  return out.str();
}

std::string details_of(const CUpti_ActivityMemset4& fill, double nanoseconds) {
  std::ostringstream out;
  add_place(out, fill);
  add_bytes(out, fill.bytes, nanoseconds);
  return out.str();
}

std::string details_of(const CUpti_ActivityAPI& call) {
  return "\"cbid\": " + std::to_string(call.cbid) +
      ", \"correlation\": " + std::to_string(call.correlationId);
}

std::string details_of(
    const CUpti_ActivitySynchronization& wait,
    unsigned device,
    const EventOrigin& event) {
  std::ostringstream out;
  out << "\"cuda_sync_kind\": \"" << name_of(wait) << '"';
  if (is_of_event(wait)) {
    out << ", \"wait_on_stream\": " << event.stream
        << ", \"wait_on_cuda_event_record_corr_id\": " << event.correlation
        << ", \"wait_on_cuda_event_id\": " << wait.cudaEventId;
  }
  out << ", \"stream\": " << static_cast<std::int32_t>(wait.streamId)
      << ", \"correlation\": " << wait.correlationId
      << ", \"device\": " << device << ", \"context\": " << wait.contextId;
  return out.str();
}

} // namespace torch_cuda::profiler
