#include "runtime/core/operations/copies.h"

#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/graphs/capture.h"
#include "runtime/core/graphs/graph_memory.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/streams/work/submit.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::runtime::operations {
namespace {

// A copy from pageable memory up to this size returns once the bytes are
// staged (CUDA runtime API, API synchronization behavior).
constexpr std::size_t kStaged = 64 << 10;

} // namespace

void copy(cudaStream_t handle, CopyWork work, bool wait) {
  const auto stream = resolve_stream(handle);
  check_copy(machine().addresses(), work);
  if (wait) {
    require_no_unsafe_capture();
    require_not_capturing(*stream);
  }
  if (work.empty()) {
    return;
  }
  const bool capturing =
      capture_info(*stream).status != cudaStreamCaptureStatusNone;
  if (!capturing) {
    require_allocated(machine().addresses(), work.to);
    require_allocated(machine().addresses(), work.from);
  }
  const bool from_pageable = pageable(machine().addresses(), work.from);
  const bool to_pageable = pageable(machine().addresses(), work.to);
  // Who waits for the copy itself leaves the bytes alone meanwhile.
  if (!wait && !capturing && from_pageable && !to_pageable &&
      work.height == 1 && work.depth == 1 && work.width <= kStaged) {
    const auto* bytes = static_cast<const char*>(work.from);
    auto staged =
        std::make_shared<std::vector<char>>(bytes, bytes + work.width);
    work.from = staged->data();
    put(*stream, work, tracing::origin_of_work(stream->id()));
    stream->enqueue([staged = std::move(staged)] { return cudaSuccess; }, true);
  } else {
    submit(*stream, work);
    wait = wait || (!capturing && (from_pageable || to_pageable));
  }
  if (wait) {
    stream->synchronize();
    stream->device().require_health();
  }
}

void fill(cudaStream_t handle, const FillWork& work, bool wait) {
  const auto stream = resolve_stream(handle);
  check_fill(machine().addresses(), work);
  if (work.empty()) {
    return;
  }
  if (wait) {
    require_no_unsafe_capture();
    require_not_capturing(*stream);
  }
  if (capture_info(*stream).status == cudaStreamCaptureStatusNone) {
    require_allocated(machine().addresses(), work.to);
  }
  submit(*stream, work);
  // On a device only filling pinned host memory waits, and what the program
  // wants to wait; waiting always would hide what is missing in a program.
  if (wait) {
    const auto piece =
        machine().addresses().find(reinterpret_cast<std::uint64_t>(work.to));
    if (piece && (piece->on_host() || piece->synchronous)) {
      stream->synchronize();
      stream->device().require_health();
    }
  }
}

void mem_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  copy(nullptr, linear_copy(to, from, bytes, kind), true);
}

void mem_copy_async(
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  copy(stream, linear_copy(to, from, bytes, kind), false);
}

void mem_copy_2d_async(
    void* to,
    size_t to_pitch,
    const void* from,
    size_t from_pitch,
    size_t width,
    size_t height,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  copy(
      stream,
      plane_copy(to, to_pitch, from, from_pitch, width, height, kind),
      false);
}

void mem_copy_peer(
    void* to,
    int to_device,
    const void* from,
    int from_device,
    size_t bytes) {
  // Serialized with all work in both.
  machine().device(to_device).synchronize();
  machine().device(from_device).synchronize();
  copy(nullptr, linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice), true);
}

void mem_copy_peer_async(
    void* to,
    int to_device,
    const void* from,
    int from_device,
    size_t bytes,
    cudaStream_t stream) {
  machine().device(to_device);
  machine().device(from_device);
  copy(stream, linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice), false);
}

} // namespace accelerator::runtime::operations
