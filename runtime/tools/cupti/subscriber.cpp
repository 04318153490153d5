#include "runtime/tools/cupti/subscriber.h"

#include <chrono>
#include <new>
#include <thread>

#include "runtime/core/machine/machine.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/core/status/status.h"
#include "runtime/tools/cupti/callback_names.h"
#include "runtime/tools/cupti/recorder.h"

namespace accelerator::cupti {
namespace {

namespace tracing = runtime::tracing;

// Whether the calling thread is in a call of the subscriber.
thread_local bool telling = false;

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
  return handle_of(who_);
}

bool Subscriber::is(CUpti_SubscriberHandle handle) const {
  const std::lock_guard lock(mutex_);
  return who_.number != 0 && handle_of(who_) == handle;
}

bool Subscriber::leave(CUpti_SubscriberHandle handle) {
  {
    const std::lock_guard lock(mutex_);
    if (who_.number == 0 || handle_of(who_) != handle) {
      return false;
    }
    forget();
  }
  // It may be its own call that it leaves from.
  while (calls_ > (telling ? 1 : 0)) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

void Subscriber::leave() {
  leave(handle_of(who()));
}

void Subscriber::forget() {
  for (CallbackSet& wanted : wanted_) {
    wanted.set_all(false);
  }
  wanted_resources_.set_all(false);
  who_ = {};
}

void Subscriber::forget_parent() {
  // A thread that the child does not have may hold the lock for good.
  new (&mutex_) std::mutex;
  calls_ = 0;
  forget();
}

void Subscriber::tell(
    CUpti_ApiCallbackSite site,
    tracing::CallRecord& call) noexcept {
  const CallbackSet& wanted = this->wanted(call.interface);
  if (telling || !wanted.any()) {
    return;
  }
  const CUpti_CallbackId id = callback_of(call.interface, call.function);
  if (id == 0 || !wanted.has(id)) {
    return;
  }
  ++calls_; // before it is looked who there is: see leave()
  const Who who = this->who();
  if (who.callback == nullptr) {
    --calls_;
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
  --calls_;
}

Subscriber& subscriber() {
  static auto* instance = new Subscriber; // outlives static destructors
  return *instance;
}

} // namespace accelerator::cupti
