// The activity API: which records are made, the buffers they go to, and the ids
// of others that they carry.
// Source: CUPTI activity API.
#include <cupti.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "runtime/tools/cupti/call.h"
#include "runtime/tools/cupti/callback_names.h"
#include "runtime/tools/cupti/flush_period.h"
#include "runtime/tools/cupti/recorder.h"

using namespace accelerator::cupti;

namespace {

bool is_external_kind(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID &&
      kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

CUptiResult enable(CUpti_ActivityKind kind, bool on) {
  if (Recorder::supports(kind)) {
    recorder().enable(kind, on);
    return CUPTI_SUCCESS;
  }
  return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT
      ? CUPTI_ERROR_NOT_SUPPORTED
      : CUPTI_ERROR_INVALID_KIND;
}

CUptiResult enable_call(
    accelerator::runtime::tracing::Interface interface,
    CUpti_CallbackId callback,
    bool on) {
  if (callback_name(interface, callback) == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  recorder().enable_call(interface, callback, on);
  return CUPTI_SUCCESS;
}

// Attributes say how buffers on a device are allocated, which there are none
// of: they are only kept.
class Attributes {
 public:
  void set(CUpti_ActivityAttribute which, const void* value, std::size_t size) {
    const std::lock_guard lock(mutex_);
    values_[which].assign(static_cast<const char*>(value), size);
  }
  CUptiResult get(
      CUpti_ActivityAttribute which,
      void* value,
      std::size_t* size) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(which);
    if (found == values_.end()) {
      return CUPTI_ERROR_INVALID_OPERATION;
    }
    if (*size < found->second.size()) {
      return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    }
    *size = found->second.size();
    std::memcpy(value, found->second.data(), *size);
    return CUPTI_SUCCESS;
  }

 private:
  std::mutex mutex_;
  std::map<CUpti_ActivityAttribute, std::string> values_;
};

Attributes& attributes() {
  static auto* instance = new Attributes; // outlives static destructors
  return *instance;
}

bool is_attribute(CUpti_ActivityAttribute which) {
  return which >= CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE &&
      which <= CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER;
}

} // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request,
    CUpti_BuffersCallbackCompleteFunc complete) {
  return call([&] {
    if (request == nullptr || complete == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    recorder().buffers().set_callbacks(request, complete);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return call([&] { return enable(kind, true); });
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return call([&] { return enable(kind, false); });
}

// Headers of CUDA 12.4 lack the next two; programs of later ones call them.

CUptiResult cuptiActivityEnableRuntimeApi(
    CUpti_CallbackId callback,
    uint8_t enable) {
  return call([&] {
    return enable_call(
        accelerator::runtime::tracing::Interface::kRuntime,
        callback,
        enable != 0);
  });
}

CUptiResult cuptiActivityEnableDriverApi(
    CUpti_CallbackId callback,
    uint8_t enable) {
  return call([&] {
    return enable_call(
        accelerator::runtime::tracing::Interface::kDriver,
        callback,
        enable != 0);
  });
}

#if CUPTI_API_VERSION >= 130000
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable) {
  return call([&] {
    recorder().set_event_times(enable != 0);
    return CUPTI_SUCCESS;
  });
}
#endif

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  return call([&] {
    if (!recorder().buffers().has_callbacks()) {
      return CUPTI_ERROR_INVALID_OPERATION;
    }
    recorder().buffers().flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds) {
  return call([&] {
    set_flush_period(milliseconds);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityGetNextRecord(
    uint8_t* buffer,
    size_t valid_bytes,
    CUpti_Activity** record) {
  return call([&] {
    return buffer == nullptr || record == nullptr
        ? CUPTI_ERROR_INVALID_PARAMETER
        : next_record(buffer, valid_bytes, record);
  });
}

CUptiResult cuptiActivityGetNumDroppedRecords(
    CUcontext,
    uint32_t,
    size_t* dropped) {
  return call([&] {
    if (dropped == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *dropped = recorder().buffers().take_dropped();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityPushExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind,
    uint64_t id) {
  return call([&] {
    if (!is_external_kind(kind)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    push_external_id(kind, id);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityPopExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind,
    uint64_t* last_id) {
  return call([&] {
    if (!is_external_kind(kind)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return pop_external_id(kind, last_id) ? CUPTI_SUCCESS
                                          : CUPTI_ERROR_QUEUE_EMPTY;
  });
}

CUptiResult cuptiActivitySetAttribute(
    CUpti_ActivityAttribute which,
    size_t* size,
    void* value) {
  return call([&] {
    if (!is_attribute(which) || size == nullptr || value == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    attributes().set(which, value, *size);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityGetAttribute(
    CUpti_ActivityAttribute which,
    size_t* size,
    void* value) {
  return call([&] {
    if (!is_attribute(which) || size == nullptr || value == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return attributes().get(which, value, size);
  });
}

CUptiResult cuptiFinalize() {
  return call([] {
    set_flush_period(0);
    recorder().disable_all();
    recorder().buffers().flush(true);
    return CUPTI_SUCCESS;
  });
}

} // extern "C"
