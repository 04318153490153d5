// What the driver's structures of a copy mean.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <cstddef>

#include "runtime/core/arrays/array_copy.h"
#include "runtime/core/status/status.h"

namespace accelerator::driver {

/// One of the two places of a copy, as each of the structures has it.
struct CopySide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch; // bytes from row to row
  std::size_t rows; // from slice to slice
  cudaPos position; // x in bytes
};

/// @param extent the width in bytes.
/// @throws runtime::Failure: CUDA_ERROR_INVALID_VALUE for types and sizes that
/// cannot be; what box_copy() of core throws.
runtime::CopyWork box_of(
    const CopySide& from,
    const CopySide& to,
    const cudaExtent& extent);

runtime::CopyWork box_of(const CUDA_MEMCPY2D& plane);

/// @tparam Box CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER.
template <typename Box>
runtime::CopyWork box_of(const Box& p) {
  runtime::require(p.srcLOD == 0 && p.dstLOD == 0);
  return box_of(
      {p.srcMemoryType,
       p.srcHost,
       p.srcDevice,
       p.srcArray,
       p.srcPitch,
       p.srcHeight,
       {p.srcXInBytes, p.srcY, p.srcZ}},
      {p.dstMemoryType,
       p.dstHost,
       p.dstDevice,
       p.dstArray,
       p.dstPitch,
       p.dstHeight,
       {p.dstXInBytes, p.dstY, p.dstZ}},
      {p.WidthInBytes, p.Height, p.Depth});
}

} // namespace accelerator::driver
