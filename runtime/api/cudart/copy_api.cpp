// Copying and filling: one, two and three dimensions, at once or in streams.
// Source: CUDA runtime API, memory management and API synchronization behavior.
#include <limits>

#include "runtime/api/cudart/call.h"
#include "runtime/core/arrays/array_copy.h"
#include "runtime/core/operations/copies.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::perform;

namespace {

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

API_FUNCTION(4, cudaMemcpy, mem_copy)
API_FUNCTION(5, cudaMemcpyAsync, mem_copy_async)
API_FUNCTION(8, cudaMemcpy2DAsync, mem_copy_2d_async)
API_FUNCTION(5, cudaMemcpyPeer, mem_copy_peer)
API_FUNCTION(6, cudaMemcpyPeerAsync, mem_copy_peer_async)

extern "C" {

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
