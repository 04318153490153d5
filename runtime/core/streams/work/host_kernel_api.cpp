#include "runtime/core/streams/work/host_kernel_api.h"

#include <cstring>
#include <utility>

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/streams/work/kernel_names.h"
#include "runtime/core/streams/work/submit.h"

using namespace accelerator::runtime;

namespace {

// What NVIDIA's runtime would be asked for.
constexpr const char* kLaunch = "cudaLaunchKernel";

/// What the caller keeps between begin and end.
struct State {
  tracing::Observer* observer; // lives as long as the process
  std::uint64_t start;
  std::uint64_t stream;
  std::int32_t device;
  std::uint32_t correlation;
};
static_assert(sizeof(State) == 4 * sizeof(std::uint64_t));

} // namespace

int accelerator_host_kernel_begin(cudaStream_t stream, std::uint64_t* state) {
  if (tracing::the_observer.load(std::memory_order_relaxed) == nullptr) {
    return 0;
  }
  State begun{};
  const cudaError_t error = guarded([&] {
    const auto resolved = resolve_stream(stream);
    const tracing::Call call(tracing::Interface::kRuntime, kLaunch);
    const tracing::Origin origin = tracing::origin_of_work(resolved->id());
    begun.observer = origin.observer;
    begun.stream = origin.stream;
    begun.correlation = origin.correlation;
    begun.device = resolved->device().ordinal();
  });
  if (error != cudaSuccess || begun.observer == nullptr) {
    return 0;
  }
  begun.start = begun.observer->now();
  std::memcpy(state, &begun, sizeof(begun));
  return 1;
}

void accelerator_host_kernel_end(const std::uint64_t* state, const char* name) {
  State begun;
  std::memcpy(&begun, state, sizeof(begun));
  tracing::WorkRecord record;
  record.origin.observer = begun.observer;
  record.origin.correlation = begun.correlation;
  record.origin.stream = begun.stream;
  record.device = begun.device;
  record.start = begun.start;
  record.end = begun.observer->now();
  tracing::KernelPart part;
  part.name = name;
  record.part = std::move(part);
  begun.observer->work(record);
}

cudaError_t accelerator_host_kernel_launch(
    cudaStream_t stream,
    cudaHostFn_t function,
    void* data,
    const char* name) {
  return guarded([&] {
    const tracing::Call call(tracing::Interface::kRuntime, kLaunch);
    submit(
        *resolve_stream(stream),
        HostWork{function, data, lasting_kernel_name(name)});
  });
}
