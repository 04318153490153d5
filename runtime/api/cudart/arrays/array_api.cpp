// CUDA arrays. Source: CUDA runtime API, memory management and texture object
// management.
#include <cuda_runtime_api.h>

#include "runtime/api/cudart/call.h"
#include "runtime/core/operations/arrays/arrays.h"
#include "runtime/core/status/guarded.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::perform;

API_FUNCTION(3, cudaGetMipmappedArrayLevel, mipmapped_array_get_level)

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(
    int x,
    int y,
    int z,
    int w,
    cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMallocArray(
    cudaArray_t* array,
    const cudaChannelFormatDesc* format,
    size_t width,
    size_t height,
    unsigned flags) {
  return call([&] {
    require(format != nullptr);
    // Layers and faces are of three dimensions.
    require((flags & (cudaArrayLayered | cudaArrayCubemap)) == 0);
    array_create(array, *format, {width, height, 0}, flags);
  });
}

cudaError_t cudaMalloc3DArray(
    cudaArray_t* array,
    const cudaChannelFormatDesc* format,
    cudaExtent extent,
    unsigned flags) {
  return call([&] {
    require(format != nullptr);
    array_create(array, *format, extent, flags);
  });
}

cudaError_t cudaMallocMipmappedArray(
    cudaMipmappedArray_t* array,
    const cudaChannelFormatDesc* format,
    cudaExtent extent,
    unsigned levels,
    unsigned flags) {
  return call([&] {
    require(format != nullptr);
    mipmapped_array_create(array, *format, extent, levels, flags);
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&] {
    current_device();
    if (array != nullptr) {
      array_destroy(array);
    }
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return call([&] {
    current_device();
    if (array != nullptr) {
      mipmapped_array_destroy(array);
    }
  });
}

cudaError_t cudaArrayGetInfo(
    cudaChannelFormatDesc* format,
    cudaExtent* extent,
    unsigned* flags,
    cudaArray_t array) {
  return call([&] {
    const auto found = resolve_array(array);
    if (format != nullptr) {
      *format = found->shape.description;
    }
    if (extent != nullptr) {
      *extent = found->shape.extent;
    }
    if (flags != nullptr) {
      *flags = found->shape.flags;
    }
  });
}

cudaError_t cudaGetChannelDesc(
    cudaChannelFormatDesc* format,
    cudaArray_const_t array) {
  return call([&] { store(format, resolve_array(array)->shape.description); });
}

cudaError_t cudaArrayGetPlane(cudaArray_t* plane, cudaArray_t array, unsigned) {
  return call([&] { array_get_missing(plane, array); });
}

cudaError_t cudaArrayGetSparseProperties(
    cudaArraySparseProperties* properties,
    cudaArray_t array) {
  return call([&] { array_get_missing(properties, array); });
}

cudaError_t cudaMipmappedArrayGetSparseProperties(
    cudaArraySparseProperties* properties,
    cudaMipmappedArray_t array) {
  return call([&] { mipmapped_array_get_missing(properties, array); });
}

cudaError_t cudaArrayGetMemoryRequirements(
    cudaArrayMemoryRequirements* requirements,
    cudaArray_t array,
    int) {
  return call([&] { array_get_missing(requirements, array); });
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(
    cudaArrayMemoryRequirements* requirements,
    cudaMipmappedArray_t array,
    int) {
  return call([&] { mipmapped_array_get_missing(requirements, array); });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    size_t* elements,
    const cudaChannelFormatDesc* format,
    int device) {
  return call([&] {
    require(format != nullptr);
    device_get_texture_1d_linear_max_width(elements, *format, device);
  });
}

} // extern "C"
