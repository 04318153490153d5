#include "accelerator/runtime/cupti/subscriber.h"

#include <new>

#include "accelerator/runtime/core/machine/machine.h"
#include "accelerator/runtime/core/machine/thread_state.h"
#include "accelerator/runtime/core/status/status.h"
#include "accelerator/runtime/cupti/callback_names.h"
#include "accelerator/runtime/cupti/recorder.h"

namespace accelerator::cupti {
namespace {

namespace tracing = runtime::tracing;

// The calling thread's device, negative when there is none.
int selected_ordinal() {
  try {
    return runtime::selected_device().ordinal();
  } catch (const runtime::Failure&) {
    return -1;
  }
}

} // namespace

CUpti_SubscriberHandle Subscriber::join(
    CUpti_CallbackFunc callback,
    void* user) {
  const std::lock_guard lock(mutex_);
  if (who_.number != 0) {
    return nullptr;
  }
  who_ = {callback, user, ++last_number_};
  return reinterpret_cast<CUpti_SubscriberHandle>(who_.number);
}

void Subscriber::leave() {
  const std::lock_guard lock(mutex_);
  for (CallbackSet& wanted : wanted_) {
    wanted.set_all(false);
  }
  who_ = {};
}

bool Subscriber::is(CUpti_SubscriberHandle handle) const {
  const std::lock_guard lock(mutex_);
  return who_.number != 0 &&
      reinterpret_cast<CUpti_SubscriberHandle>(who_.number) == handle;
}

void Subscriber::forget_parent() {
  // A thread that the child does not have may hold the lock for good.
  new (&mutex_) std::mutex;
  leave();
}

void Subscriber::tell(
    CUpti_ApiCallbackSite site,
    tracing::CallRecord& call) noexcept {
  static thread_local bool telling = false;
  const CallbackSet& wanted = this->wanted(call.interface);
  if (telling || !wanted.any()) {
    return;
  }
  const CUpti_CallbackId id = callback_of(call.interface, call.function);
  if (id == 0 || !wanted.has(id)) {
    return;
  }
  const Who who = this->who();
  if (who.callback == nullptr) {
    return;
  }
  telling = true;
  const bool of_runtime = call.interface == tracing::Interface::kRuntime;
  const int device = selected_ordinal();
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = call.function;
  if (site == CUPTI_API_EXIT) {
    data.functionReturnValue = &call.result;
  }
  if (device >= 0) {
    data.context =
        reinterpret_cast<CUcontext>(&runtime::machine().device(device));
    data.contextUid = context_id(device);
  }
  data.correlationData = &call.note;
  data.correlationId = call.correlation;
  who.callback(
      who.user,
      of_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
      id,
      &data);
  telling = false;
}

Subscriber& subscriber() {
  static auto* instance = new Subscriber; // outlives static destructors
  return *instance;
}

} // namespace accelerator::cupti
