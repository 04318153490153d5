// What can be put into a stream besides events.
#pragma once

#include <driver_types.h>

#include <variant>

#include "device/abi/device_api.h"
#include "runtime/core/memory/copy.h"
#include "runtime/core/modules/launch.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::runtime {

class Stream;

struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
  /// The name that profilers know it by when it takes the place of a kernel, as
  /// libraries' work does; lives as long as the process. Null: they do not.
  const char* kernel = nullptr;
  /// In the place of `function`: what the device is asked to submit.
  accel_status (*submit)(void* native_stream, void* data) = nullptr;
};

using StreamWork = std::variant<KernelWork, CopyWork, FillWork, HostWork>;

/// Puts work into a stream, captured or not, and tells who watches when it is
/// done.
/// @throws Failure: for a kernel as Function::to_launch().
void put(Stream& stream, const KernelWork& work, const tracing::Origin& origin);
void put(Stream& stream, const CopyWork& work, const tracing::Origin& origin);
void put(Stream& stream, const FillWork& work, const tracing::Origin& origin);
void put(Stream& stream, const HostWork& work, const tracing::Origin& origin);

/// The same for a kernel that has been asked for on the stream's device.
void put(
    Stream& stream,
    const LoadedKernel& kernel,
    const KernelWork& work,
    const tracing::Origin& origin);

} // namespace accelerator::runtime
