// Initialization, devices, primary contexts and contexts. A primary context is
// its device. Those that programs make have what is made while they are
// current; limits, peers and the default stream are the device's.
// Source: CUDA driver API, device, primary context and context management.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cudaProfiler.h>

#include "runtime/api/driver/perform.h"
#include "runtime/core/graphs/capture.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/machine/driver_version.h"
#include "runtime/core/machine/usage.h"
#include "runtime/core/operations/devices.h"
#include "runtime/core/operations/events.h"
#include "runtime/core/operations/memory.h"
#include "runtime/core/operations/modules.h"
#include "runtime/core/operations/streams.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::call_before_init;
using accelerator::driver::current_context;
using accelerator::driver::InContext;
using accelerator::driver::perform;
using accelerator::driver::resolve_context;

namespace {

CUcontext handle_of(Device& device) {
  return reinterpret_cast<CUcontext>(&device);
}

void check_context_flags(unsigned flags) {
  require((flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0);
}

// Makes a context current, or none.
void bind(CUcontext context) {
  ThreadState& thread = thread_state();
  if (context == nullptr) {
    thread.bound = false;
    thread.context = nullptr;
    return;
  }
  Device& device = resolve_context(context);
  thread.context = contexts().find(context);
  if (thread.context == nullptr) {
    device.activate();
  }
  thread.device = device.ordinal();
  thread.bound = true;
}

CUcontext handle_of(OwnContext* context) {
  return reinterpret_cast<CUcontext>(context);
}

CUcontext bound_context() {
  const ThreadState& thread = thread_state();
  return !thread.bound            ? nullptr
      : thread.context != nullptr ? handle_of(thread.context)
                                  : handle_of(selected_device());
}

void push(CUcontext context) {
  ThreadState& thread = thread_state();
  const ThreadState::Beneath before{
      thread.bound ? thread.device : -1, thread.context};
  bind(context);
  thread.context_stack.push_back(before);
}

CUcontext pop() {
  ThreadState& thread = thread_state();
  require(thread.bound, cudaErrorDeviceUninitialized);
  const CUcontext top = bound_context();
  ThreadState::Beneath below;
  if (!thread.context_stack.empty()) {
    below = thread.context_stack.back();
    thread.context_stack.pop_back();
  }
  thread.bound = below.device >= 0;
  thread.context = below.context;
  if (thread.bound) {
    thread.device = below.device;
  }
  return top;
}

// What was made in a context and is still there.
void empty(const std::vector<Contexts::Content>& contents) {
  for (const auto& [kind, handle] : contents) {
    try {
      switch (kind) {
        case Contexts::Kind::kModule:
          module_unload(handle);
          break;
        case Contexts::Kind::kEvent:
          event_destroy(static_cast<cudaEvent_t>(handle));
          break;
        case Contexts::Kind::kStream:
          stream_destroy(static_cast<cudaStream_t>(handle));
          break;
        case Contexts::Kind::kMemory:
          mem_free(handle);
          break;
        case Contexts::Kind::kHostMemory:
          mem_free_host(handle);
          break;
      }
    } catch (const Failure&) {
      // A device at fault frees nothing; the rest goes on.
    }
  }
}

unsigned flags_of_current() {
  const Device& device = current_context();
  const OwnContext* const own = thread_state().context;
  return own != nullptr ? own->flags.load() : device.flags;
}

} // namespace

Device& accelerator::driver::resolve_context(CUcontext context) {
  if (const OwnContext* const own = contexts().find(context)) {
    require(!own->destroyed, cudaErrorDeviceUninitialized);
    return machine().device(own->device);
  }
  for (int ordinal = 0; ordinal < machine().device_count(); ++ordinal) {
    Device& device = machine().device(ordinal);
    if (handle_of(device) == context) {
      return device;
    }
  }
  throw Failure(cudaErrorDeviceUninitialized);
}

API_FUNCTION(3, cuDeviceGetAttribute, device_get_attribute)
API_FUNCTION(3, cuDeviceGetPCIBusId, device_get_pci_bus_id)
API_FUNCTION(2, cuDeviceGetByPCIBusId, device_get_by_pci_bus_id)
API_FUNCTION(3, cuDeviceCanAccessPeer, device_can_access_peer)
API_FUNCTION(4, cuDeviceGetP2PAttribute, device_get_p2p_attribute)
API_FUNCTION(2, cuCtxEnablePeerAccess, InContext{device_enable_peer_access})
API_FUNCTION(1, cuCtxDisablePeerAccess, InContext{device_disable_peer_access})
API_FUNCTION(2, cuCtxSetLimit, InContext{device_set_limit})
API_FUNCTION(2, cuCtxGetLimit, InContext{device_get_limit})
API_FUNCTION(1, cuCtxGetCacheConfig, InContext{device_get_cache_config})
API_FUNCTION(1, cuCtxSetCacheConfig, InContext{device_set_cache_config})
API_FUNCTION(
    1,
    cuCtxGetSharedMemConfig,
    InContext{device_get_shared_mem_config})
API_FUNCTION(
    1,
    cuCtxSetSharedMemConfig,
    InContext{device_set_shared_mem_config})
API_FUNCTION(
    2,
    cuFlushGPUDirectRDMAWrites,
    InContext{device_flush_gpu_direct_rdma_writes})
API_FUNCTION(
    2,
    cuCtxGetStreamPriorityRange,
    InContext{device_get_stream_priority_range})

extern "C" {

CUresult cuInit(unsigned flags) {
  return call_before_init([&] {
    require(flags == 0);
    require(machine().device_count() > 0, cudaErrorNoDevice);
  });
}

CUresult cuDriverGetVersion(int* version) {
  return call_before_init([&] { store(version, kDriverVersion); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call([&] {
    machine().device(ordinal);
    store(device, ordinal);
  });
}

CUresult cuDeviceGetCount(int* count) {
  return call([&] { store(count, machine().device_count()); });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return call([&] {
    require(name != nullptr && length > 0);
    std::snprintf(
        name,
        static_cast<std::size_t>(length),
        "%s",
        machine().device(device).properties().name);
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return call([&] { store(uuid, machine().device(device).properties().uuid); });
}

// Without parts of a device there is no other identity.
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid(uuid, device);
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return call([&] {
    store(bytes, machine().device(device).properties().totalGlobalMem);
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return call([&] {
    const auto& p = machine().device(device).properties();
    store(major, p.major);
    store(minor, p.minor);
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call([&] {
    Device& target = machine().device(device);
    target.activate();
    store(context, handle_of(target));
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return call([&] { machine().device(device); });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return call([&] {
    Device& target = machine().device(device);
    abandon_captures(target);
    target.reset();
  });
}

CUresult cuDevicePrimaryCtxGetState(
    CUdevice device,
    unsigned* flags,
    int* active) {
  return call([&] {
    const Device& target = machine().device(device);
    store(flags, target.flags);
    store(active, target.active() ? 1 : 0);
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return call([&] {
    check_context_flags(flags);
    machine().device(device).flags = flags;
  });
}

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return call([&] {
    check_context_flags(flags);
    Device& target = machine().device(device);
    target.require_health();
    require(context != nullptr);
    *context = handle_of(&contexts().create(target.ordinal(), flags));
    show_usage(target);
    push(*context);
  });
}

// The form of CUDA 11.4. Its parameters are about the share of a device that a
// context has.
CUresult cuCtxCreate_v3(
    CUcontext* context,
    CUexecAffinityParam*,
    int parameter_count,
    unsigned flags,
    CUdevice device) {
  if (parameter_count != 0) {
    return call([] { throw Failure(cudaErrorNotSupported); });
  }
  return cuCtxCreate(context, flags, device);
}

// The form of CUDA 12.5 and later. Its parameters are about the share of a
// device that a context has, or about whom it keeps work for.
CUresult cuCtxCreate_v4(
    CUcontext* context,
    const void* parameters,
    unsigned flags,
    CUdevice device) {
  // Without any in it, it asks for an ordinary context, as null does: programs
  // of CUDA 13 pass this.
  struct Parameters { // CUctxCreateParams, which the header does not have
    const void* shares;
    int share_count;
    const void* graphics;
  };
  const auto* const its = static_cast<const Parameters*>(parameters);
  if (its != nullptr &&
      (its->shares != nullptr || its->share_count != 0 ||
       its->graphics != nullptr)) {
    return call([] { throw Failure(cudaErrorNotSupported); });
  }
  return cuCtxCreate(context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) {
  return call([&] {
    Device& device = resolve_context(context);
    OwnContext* const own = contexts().find(context);
    if (own != nullptr) {
      push(context);
      device.synchronize();
      empty(contexts().take(*own));
      pop();
      own->destroyed = true;
      show_usage(device);
    }
    if (bound_context() == context) {
      pop();
    }
  });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  return call([&] { push(context); });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return call([&] {
    const CUcontext top = pop();
    if (context != nullptr) {
      *context = top;
    }
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return call([&] {
    // None at all means to pop, if there is something to pop.
    if (context != nullptr) {
      bind(context);
    } else if (thread_state().bound) {
      pop();
    }
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return call([&] { store(context, bound_context()); });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return call([&] { store(device, current_context().ordinal()); });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return call([&] { store(flags, flags_of_current()); });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return call([&] {
    check_context_flags(flags);
    Device& device = current_context();
    if (OwnContext* const own = thread_state().context) {
      own->flags = flags;
    } else {
      device.flags = flags;
    }
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return call([] { current_context(); });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return call([&] {
    const CUcontext which = context != nullptr ? context : bound_context();
    Device& device = resolve_context(which);
    const OwnContext* const own = contexts().find(which);
    store(
        id,
        own != nullptr ? own->id
                       : static_cast<std::uint64_t>(device.ordinal()) + 1);
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return call([&] {
    resolve_context(context != nullptr ? context : bound_context());
    store(version, 3020);
  });
}

CUresult cuCtxSynchronize() {
  return call([] {
    current_context();
    device_synchronize();
  });
}

CUresult cuProfilerStart() {
  return call([] { current_context(); });
}

CUresult cuProfilerStop() {
  return call([] { current_context(); });
}

} // extern "C"
