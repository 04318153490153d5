// The numbers that records have for contexts, devices, streams, graphs and
// threads, the clock, and the names of functions.
// Source: CUPTI activity API and callback API.
#include <cupti.h>

#include "runtime/core/graphs/graph.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/tools/cupti/call.h"
#include "runtime/tools/cupti/callback_names.h"
#include "runtime/tools/cupti/recorder.h"

using namespace accelerator::cupti;
namespace runtime = accelerator::runtime;

namespace {

// The device that a context stands for: the calling thread's for null; negative
// when it is none.
int device_of(CUcontext context) {
  if (context == nullptr) {
    return runtime::selected_device().ordinal();
  }
  runtime::Machine& machine = runtime::machine();
  for (int i = 0; i < machine.device_count(); ++i) {
    if (reinterpret_cast<CUcontext>(&machine.device(i)) == context) {
      return i;
    }
  }
  return -1;
}

// Answers with the number that `number_of` has for the context's device.
template <typename NumberOf>
CUptiResult identify(CUcontext context, uint32_t* id, NumberOf&& number_of) {
  return call([&] {
    if (id == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const int device = device_of(context);
    if (device < 0) {
      return CUPTI_ERROR_INVALID_CONTEXT;
    }
    *id = number_of(device);
    return CUPTI_SUCCESS;
  });
}

} // namespace

extern "C" {

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  return call([&] {
    if (timestamp == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *timestamp = recorder().now();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityRegisterTimestampCallback(
    CUpti_TimestampCallbackFunc clock) {
  return call([&] {
    recorder().set_clock(clock);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  return identify(context, id, [&](int device) { return context_id(device); });
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  return identify(
      context, id, [&](int device) { return static_cast<uint32_t>(device); });
}

CUptiResult cuptiGetStreamIdEx(
    CUcontext context,
    CUstream stream,
    uint8_t per_thread,
    uint32_t* id) {
  return identify(context, id, [&](int device) {
    if (stream == nullptr && per_thread == 0) {
      return static_cast<uint32_t>(
          runtime::machine().device(device).default_stream().id());
    }
    const runtime::PerThreadDefault scope;
    return static_cast<uint32_t>(runtime::resolve_stream(stream)->id());
  });
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  return call([&] {
    if (id == nullptr || !runtime::machine().graphs().contains(graph)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *id = runtime::machine().graphs().get(graph)->id();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  return call([&] {
    if (id == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    try {
      *id = runtime::resolve_node(node).id();
    } catch (const runtime::Failure&) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return call([&] {
    if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT &&
        type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) {
      return CUPTI_ERROR_NOT_SUPPORTED;
    }
    recorder().set_system_thread_ids(
        type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  return call([&] {
    if (type == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *type = recorder().system_thread_ids()
        ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
        : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetCallbackName(
    CUpti_CallbackDomain domain,
    uint32_t callback,
    const char** name) {
  return call([&] {
    using runtime::tracing::Interface;
    if (name == nullptr ||
        (domain != CUPTI_CB_DOMAIN_DRIVER_API &&
         domain != CUPTI_CB_DOMAIN_RUNTIME_API)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const char* found = callback_name(
        domain == CUPTI_CB_DOMAIN_DRIVER_API ? Interface::kDriver
                                             : Interface::kRuntime,
        callback);
    if (found == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *name = found;
    return CUPTI_SUCCESS;
  });
}

} // extern "C"
