// Copies of planes and boxes. Source: CUDA driver API, memory management.
#include <cstddef>

#include "runtime/api/driver/call.h"
#include "runtime/core/operations/copies.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::current_context;
using accelerator::driver::pointer;
using accelerator::driver::resolve_context;

namespace {

// One of the two places of a copy, as each of the driver's structures has it.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t pitch; // bytes from row to row
  std::size_t rows; // from slice to slice
  cudaPos position;

  bool unified() const {
    return type == CU_MEMORYTYPE_UNIFIED;
  }
  bool on_device() const {
    return type == CU_MEMORYTYPE_DEVICE;
  }
  cudaPitchedPtr memory() const {
    void* begin =
        type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer(device);
    return {begin, pitch, pitch, rows};
  }
};

void check(const Side& side, const cudaExtent& extent) {
  require(side.type != CU_MEMORYTYPE_ARRAY, cudaErrorNotSupported);
  require(
      side.type == CU_MEMORYTYPE_HOST || side.on_device() || side.unified());
  // Slices do not overlap.
  require(extent.depth <= 1 || side.rows >= extent.height);
}

// Addresses tell where memory is, types only what is not allowed.
cudaMemcpyKind kind_of(const Side& from, const Side& to) {
  if (from.unified() || to.unified()) {
    return cudaMemcpyDefault;
  }
  if (from.on_device()) {
    return to.on_device() ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
  }
  return to.on_device() ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
}

void copy_box(
    const Side& from,
    const Side& to,
    cudaExtent extent,
    CUstream stream,
    bool wait) {
  current_context();
  check(from, extent);
  check(to, extent);
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = from.memory();
  parameters.srcPos = from.position;
  parameters.dstPtr = to.memory();
  parameters.dstPos = to.position;
  parameters.extent = extent;
  parameters.kind = kind_of(from, to);
  copy(stream, box_copy(parameters), wait);
}

CUresult copy_plane(
    const CUDA_MEMCPY2D* p,
    CUstream stream,
    bool wait,
    const char* function = __builtin_FUNCTION()) {
  const auto body = [&] {
    require(p != nullptr);
    copy_box(
        {p->srcMemoryType,
         p->srcHost,
         p->srcDevice,
         p->srcPitch,
         p->Height,
         {p->srcXInBytes, p->srcY, 0}},
        {p->dstMemoryType,
         p->dstHost,
         p->dstDevice,
         p->dstPitch,
         p->Height,
         {p->dstXInBytes, p->dstY, 0}},
        {p->WidthInBytes, p->Height, 1},
        stream,
        wait);
  };
  return call(body, function);
}

/// @tparam Box CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER.
template <typename Box>
void copy_box(const Box& p, CUstream stream, bool wait) {
  require(p.srcLOD == 0 && p.dstLOD == 0);
  copy_box(
      {p.srcMemoryType,
       p.srcHost,
       p.srcDevice,
       p.srcPitch,
       p.srcHeight,
       {p.srcXInBytes, p.srcY, p.srcZ}},
      {p.dstMemoryType,
       p.dstHost,
       p.dstDevice,
       p.dstPitch,
       p.dstHeight,
       {p.dstXInBytes, p.dstY, p.dstZ}},
      {p.WidthInBytes, p.Height, p.Depth},
      stream,
      wait);
}

void copy_between(const CUDA_MEMCPY3D_PEER* p, CUstream stream, bool wait) {
  require(p != nullptr);
  resolve_context(p->srcContext);
  resolve_context(p->dstContext);
  copy_box(*p, stream, wait);
}

} // namespace

extern "C" {

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* plane) {
  return copy_plane(plane, nullptr, true);
}

// Any pitch is taken by both.
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* plane) {
  return copy_plane(plane, nullptr, true);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* plane, CUstream stream) {
  return copy_plane(plane, stream, false);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* box) {
  return call([&] {
    require(box != nullptr);
    copy_box(*box, nullptr, true);
  });
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* box, CUstream stream) {
  return call([&] {
    require(box != nullptr);
    copy_box(*box, stream, false);
  });
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* box) {
  return call([&] { copy_between(box, nullptr, true); });
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* box, CUstream stream) {
  return call([&] { copy_between(box, stream, false); });
}

} // extern "C"
