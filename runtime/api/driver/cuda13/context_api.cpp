// Contexts and events of all their work. Source: CUDA driver API, context
// management.
#include "runtime/api/driver/perform.h"
#include "runtime/core/operations/devices.h"
#include "runtime/core/operations/events.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::current_context;
using accelerator::driver::perform;
using accelerator::driver::resolve_context;

namespace {

// A context, or for null the current one.
Device& context_or_current(CUcontext context) {
  return context != nullptr ? resolve_context(context) : current_context();
}

} // namespace

API_FUNCTION(2, cuCtxRecordEvent, device_record_event)
API_FUNCTION(2, cuCtxWaitEvent, device_wait_event)

extern "C" {

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return call([&] { store(device, context_or_current(context).ordinal()); });
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return call([&] { device_synchronize_one(context_or_current(context)); });
}

} // extern "C"
