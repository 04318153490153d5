// Copying and filling: one, two and three dimensions, at once or in streams.
// Source: CUDA runtime API, memory management and API synchronization behavior.
#include "accelerator/runtime/core/graphs/submit.h"
#include "accelerator/runtime/core/memory/copy.h"

#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/cudart/call.h"

using namespace accelerator::runtime;
using accelerator::cudart::call;

namespace {

// A copy from pageable memory up to this size returns once the bytes are
// staged (CUDA runtime API, API synchronization behavior).
constexpr std::size_t kStaged = 64 << 10;

// Puts a copy into a stream and, with pageable memory or when asked to, waits.
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
  const bool from_pageable = pageable(machine().addresses(), work.from);
  const bool to_pageable = pageable(machine().addresses(), work.to);
  if (!capturing && from_pageable && !to_pageable && work.height == 1 &&
      work.depth == 1 && work.width <= kStaged) {
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
  submit(*stream, work);
  // On a device only filling pinned host memory waits; waiting always would
  // hide what is missing in a program.
  if (wait &&
      machine()
          .addresses()
          .find(reinterpret_cast<std::uint64_t>(work.to))
          ->on_host()) {
    stream->synchronize();
    stream->device().require_health();
  }
}

FillWork plane_fill(
    void* to,
    std::size_t pitch,
    int value,
    std::size_t width,
    std::size_t height) {
  FillWork work = linear_fill(to, static_cast<unsigned char>(value), 1, width);
  work.pitch = pitch;
  work.height = height;
  return work;
}

FillWork box_fill(cudaPitchedPtr to, int value, cudaExtent extent) {
  FillWork work =
      plane_fill(to.ptr, to.pitch, value, extent.width, extent.height);
  work.depth = extent.depth;
  if (__builtin_mul_overflow(to.pitch, to.ysize, &work.slice)) {
    work.slice = std::numeric_limits<std::size_t>::max();
  }
  return work;
}

CopyWork peer_box(const cudaMemcpy3DPeerParms& p) {
  machine().device(p.srcDevice);
  machine().device(p.dstDevice);
  cudaMemcpy3DParms plain{};
  plain.srcArray = p.srcArray;
  plain.srcPos = p.srcPos;
  plain.srcPtr = p.srcPtr;
  plain.dstArray = p.dstArray;
  plain.dstPos = p.dstPos;
  plain.dstPtr = p.dstPtr;
  plain.extent = p.extent;
  plain.kind = cudaMemcpyDefault;
  return box_copy(plain);
}

} // namespace

extern "C" {

cudaError_t cudaMemcpy(
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind) {
  return call([&] { copy(nullptr, linear_copy(to, from, bytes, kind), true); });
}

cudaError_t cudaMemcpyAsync(
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  return call([&] { copy(stream, linear_copy(to, from, bytes, kind), false); });
}

cudaError_t cudaMemcpy2D(
    void* to,
    size_t to_pitch,
    const void* from,
    size_t from_pitch,
    size_t width,
    size_t height,
    cudaMemcpyKind kind) {
  return call([&] {
    copy(
        nullptr,
        plane_copy(to, to_pitch, from, from_pitch, width, height, kind),
        true);
  });
}

cudaError_t cudaMemcpy2DAsync(
    void* to,
    size_t to_pitch,
    const void* from,
    size_t from_pitch,
    size_t width,
    size_t height,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  return call([&] {
    copy(
        stream,
        plane_copy(to, to_pitch, from, from_pitch, width, height, kind),
        false);
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return call([&] {
    require(parameters != nullptr);
    copy(nullptr, box_copy(*parameters), true);
  });
}

cudaError_t cudaMemcpy3DAsync(
    const cudaMemcpy3DParms* parameters,
    cudaStream_t stream) {
  return call([&] {
    require(parameters != nullptr);
    copy(stream, box_copy(*parameters), false);
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return call([&] {
    require(parameters != nullptr);
    copy(nullptr, peer_box(*parameters), true);
  });
}

cudaError_t cudaMemcpy3DPeerAsync(
    const cudaMemcpy3DPeerParms* parameters,
    cudaStream_t stream) {
  return call([&] {
    require(parameters != nullptr);
    copy(stream, peer_box(*parameters), false);
  });
}

cudaError_t cudaMemcpyPeer(
    void* to,
    int to_device,
    const void* from,
    int from_device,
    size_t bytes) {
  return call([&] {
    machine().device(to_device);
    machine().device(from_device).synchronize();
    copy(nullptr, linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice), true);
  });
}

cudaError_t cudaMemcpyPeerAsync(
    void* to,
    int to_device,
    const void* from,
    int from_device,
    size_t bytes,
    cudaStream_t stream) {
  return call([&] {
    machine().device(to_device);
    machine().device(from_device);
    copy(stream, linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice), false);
  });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return call([&] {
    fill(
        nullptr,
        linear_fill(to, static_cast<unsigned char>(value), 1, bytes),
        true);
  });
}

cudaError_t cudaMemsetAsync(
    void* to,
    int value,
    size_t bytes,
    cudaStream_t stream) {
  return call([&] {
    fill(
        stream,
        linear_fill(to, static_cast<unsigned char>(value), 1, bytes),
        false);
  });
}

cudaError_t cudaMemset2D(
    void* to,
    size_t pitch,
    int value,
    size_t width,
    size_t height) {
  return call([&] {
    fill(nullptr, plane_fill(to, pitch, value, width, height), true);
  });
}

cudaError_t cudaMemset2DAsync(
    void* to,
    size_t pitch,
    int value,
    size_t width,
    size_t height,
    cudaStream_t stream) {
  return call([&] {
    fill(stream, plane_fill(to, pitch, value, width, height), false);
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return call([&] { fill(nullptr, box_fill(to, value, extent), true); });
}

cudaError_t cudaMemset3DAsync(
    cudaPitchedPtr to,
    int value,
    cudaExtent extent,
    cudaStream_t stream) {
  return call([&] { fill(stream, box_fill(to, value, extent), false); });
}

} // extern "C"
