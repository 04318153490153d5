#include "runtime/api/driver/copies/copy_box.h"

namespace accelerator::driver {
namespace {

using runtime::CopyPlace;
using runtime::require;

CopyPlace place_of(const CopySide& side, const cudaExtent& extent) {
  CopyPlace place;
  place.position = side.position;
  switch (side.type) {
    case CU_MEMORYTYPE_ARRAY:
      require(side.array != nullptr, cudaErrorInvalidResourceHandle);
      place.array = reinterpret_cast<cudaArray_const_t>(side.array);
      return place;
    case CU_MEMORYTYPE_HOST:
      place.memory.ptr = const_cast<void*>(side.host);
      break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      place.memory.ptr = reinterpret_cast<void*>(side.device);
      break;
    default:
      throw runtime::Failure(cudaErrorInvalidValue);
  }
  // Slices do not overlap.
  require(extent.depth <= 1 || side.rows >= extent.height);
  place.memory.pitch = place.memory.xsize = side.pitch;
  place.memory.ysize = side.rows;
  return place;
}

// Addresses tell where memory is, types only what is not allowed.
cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) {
    return cudaMemcpyDefault;
  }
  if (from == CU_MEMORYTYPE_HOST) {
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost
                                    : cudaMemcpyHostToDevice;
  }
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost
                                  : cudaMemcpyDeviceToDevice;
}

} // namespace

runtime::CopyWork box_of(
    const CopySide& from,
    const CopySide& to,
    const cudaExtent& extent) {
  return box_copy(
      place_of(to, extent),
      place_of(from, extent),
      extent,
      kind_of(from.type, to.type));
}

runtime::CopyWork box_of(const CUDA_MEMCPY2D& p) {
  return box_of(
      {p.srcMemoryType,
       p.srcHost,
       p.srcDevice,
       p.srcArray,
       p.srcPitch,
       p.Height,
       {p.srcXInBytes, p.srcY, 0}},
      {p.dstMemoryType,
       p.dstHost,
       p.dstDevice,
       p.dstArray,
       p.dstPitch,
       p.Height,
       {p.dstXInBytes, p.dstY, 0}},
      {p.WidthInBytes, p.Height, 1});
}

} // namespace accelerator::driver
