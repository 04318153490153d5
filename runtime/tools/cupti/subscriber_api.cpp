// The callback API: subscribing to the program's calls of the runtime and the
// driver, to contexts, and to no other domain.
// Source: CUPTI callback API.
#include <cupti.h>

#include <cstring>

#include "runtime/tools/cupti/call.h"
#include "runtime/tools/cupti/callback_names.h"
#include "runtime/tools/cupti/recorder.h"
#include "runtime/tools/cupti/subscriber.h"

using namespace accelerator::cupti;

namespace {

using accelerator::runtime::tracing::Interface;

// Kineto asks for them before it profiles (of PyTorch 2.12 and older), and does
// not profile where they are refused. The context of a device is there from the
// first call of CUDA on, before anybody can subscribe, so that there is nothing
// to tell; those that a program makes by itself are not told of.
bool is_of_contexts(CUpti_CallbackDomain domain, CUpti_CallbackId callback) {
  return domain == CUPTI_CB_DOMAIN_RESOURCE &&
      (callback == CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
       callback == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

// Runs `body` for the interface of a domain. Domains without callbacks here
// (resources, synchronisation, NVTX, states) may be switched off only.
template <typename Body>
CUptiResult in_domain(CUpti_CallbackDomain domain, bool enable, Body&& body) {
  if (domain <= CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API &&
      domain != CUPTI_CB_DOMAIN_DRIVER_API) {
    return enable ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
  }
  return body(
      domain == CUPTI_CB_DOMAIN_RUNTIME_API ? Interface::kRuntime
                                            : Interface::kDriver);
}

CUptiResult subscribe(
    CUpti_SubscriberHandle* handle,
    CUpti_CallbackFunc callback,
    void* user) {
  if (handle == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const CUpti_SubscriberHandle joined = subscriber().join(callback, user);
  if (joined == nullptr) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  *handle = joined;
  return CUPTI_SUCCESS;
}

} // namespace

extern "C" {

CUptiResult cuptiSubscribe(
    CUpti_SubscriberHandle* handle,
    CUpti_CallbackFunc callback,
    void* user) {
  return call([&] { return subscribe(handle, callback, user); });
}

#if CUPTI_API_VERSION >= 130000
CUptiResult cuptiSubscribe_v2(
    CUpti_SubscriberHandle* handle,
    CUpti_CallbackFunc callback,
    void* user,
    CUpti_SubscriberParams* parameters) {
  return call([&] {
    if (parameters != nullptr) {
      if (parameters->structSize < CUpti_SubscriberParams_STRUCT_SIZE) {
        return CUPTI_ERROR_INVALID_PARAMETER;
      }
      if (parameters->allowMultipleSubscribers != 0) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
      }
    }
    return subscribe(handle, callback, user);
  });
}
#endif

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  return call([&] {
    if (!subscriber().leave(handle)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    recorder().watch_for_subscriber(subscriber().wants_any());
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiEnableCallback(
    uint32_t enable,
    CUpti_SubscriberHandle handle,
    CUpti_CallbackDomain domain,
    CUpti_CallbackId callback) {
  return call([&] {
    if (!subscriber().is(handle)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (is_of_contexts(domain, callback)) {
      subscriber().wanted_resources().set(callback, enable != 0);
      return CUPTI_SUCCESS;
    }
    return in_domain(domain, enable != 0, [&](Interface interface) {
      if (callback_name(interface, callback) == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
      }
      subscriber().wanted(interface).set(callback, enable != 0);
      recorder().watch_for_subscriber(subscriber().wants_any());
      return CUPTI_SUCCESS;
    });
  });
}

CUptiResult cuptiEnableDomain(
    uint32_t enable,
    CUpti_SubscriberHandle handle,
    CUpti_CallbackDomain domain) {
  return call([&] {
    if (!subscriber().is(handle)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return in_domain(domain, enable != 0, [&](Interface interface) {
      subscriber().wanted(interface).set_all(enable != 0);
      recorder().watch_for_subscriber(subscriber().wants_any());
      return CUPTI_SUCCESS;
    });
  });
}

CUptiResult cuptiGetCallbackState(
    uint32_t* enabled,
    CUpti_SubscriberHandle handle,
    CUpti_CallbackDomain domain,
    CUpti_CallbackId callback) {
  return call([&] {
    if (enabled == nullptr || !subscriber().is(handle)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *enabled = 0;
    if (is_of_contexts(domain, callback)) {
      *enabled = subscriber().wanted_resources().has(callback) ? 1 : 0;
      return CUPTI_SUCCESS;
    }
    return in_domain(domain, false, [&](Interface interface) {
      if (callback_name(interface, callback) == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
      }
      *enabled = subscriber().wanted(interface).has(callback) ? 1 : 0;
      return CUPTI_SUCCESS;
    });
  });
}

} // extern "C"
