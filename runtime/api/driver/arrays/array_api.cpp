// CUDA arrays, and copies of runs of bytes from and to them.
// Source: CUDA driver API, memory management.
#include <cstddef>

#include "runtime/api/driver/arrays/array_format.h"
#include "runtime/api/driver/call.h"
#include "runtime/core/arrays/array_copy.h"
#include "runtime/core/operations/api_functions.h"
#include "runtime/core/operations/arrays/arrays.h"
#include "runtime/core/operations/copies.h"
#include "runtime/core/status/guarded.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::array_format;
using accelerator::driver::call;
using accelerator::driver::channels_of;
using accelerator::driver::current_context;
using accelerator::driver::pointer;

namespace {

cudaArray_t handle_of(CUarray array) {
  return reinterpret_cast<cudaArray_t>(array);
}

cudaMipmappedArray_t handle_of(CUmipmappedArray array) {
  return reinterpret_cast<cudaMipmappedArray_t>(array);
}

// Where bytes begin in an array of one dimension.
CopyPlace in_line(CUarray array, std::size_t offset) {
  const ArrayShape& shape = resolve_array(handle_of(array))->shape;
  require(shape.dimensions() == 1 && !shape.layered());
  CopyPlace place;
  place.array = handle_of(array);
  place.position.x = offset;
  return place;
}

CopyPlace in_memory(const void* memory) {
  CopyPlace place;
  place.memory.ptr = const_cast<void*>(memory);
  return place;
}

void copy_line(
    const CopyPlace& to,
    const CopyPlace& from,
    std::size_t bytes,
    cudaMemcpyKind kind,
    CUstream stream,
    bool wait) {
  copy(stream, box_copy(to, from, {bytes, 1, 1}, kind), wait);
}

} // namespace

extern "C" {

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  return call([&] {
    current_context();
    require(array != nullptr && d != nullptr);
    cudaArray_t made = nullptr;
    array_create(
        &made,
        accelerator::driver::format_of(d->Format, d->NumChannels),
        {d->Width, d->Height, 0},
        0);
    *array = reinterpret_cast<CUarray>(made);
  });
}

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return call([&] {
    current_context();
    require(array != nullptr && d != nullptr);
    cudaArray_t made = nullptr;
    array_create(
        &made,
        accelerator::driver::format_of(d->Format, d->NumChannels),
        {d->Width, d->Height, d->Depth},
        d->Flags);
    *array = reinterpret_cast<CUarray>(made);
  });
}

CUresult cuArrayDestroy(CUarray array) {
  return call([&] {
    current_context();
    array_destroy(handle_of(array));
  });
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* d, CUarray array) {
  return call([&] {
    current_context();
    const ArrayShape& shape = resolve_array(handle_of(array))->shape;
    store(
        d,
        CUDA_ARRAY_DESCRIPTOR{
            shape.extent.width,
            shape.extent.height,
            array_format(shape.description),
            channels_of(shape.description)});
  });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* d, CUarray array) {
  return call([&] {
    current_context();
    const ArrayShape& shape = resolve_array(handle_of(array))->shape;
    store(
        d,
        CUDA_ARRAY3D_DESCRIPTOR{
            shape.extent.width,
            shape.extent.height,
            shape.extent.depth,
            array_format(shape.description),
            channels_of(shape.description),
            shape.flags});
  });
}

CUresult cuMipmappedArrayCreate(
    CUmipmappedArray* array,
    const CUDA_ARRAY3D_DESCRIPTOR* d,
    unsigned levels) {
  return call([&] {
    current_context();
    require(array != nullptr && d != nullptr);
    cudaMipmappedArray_t made = nullptr;
    mipmapped_array_create(
        &made,
        accelerator::driver::format_of(d->Format, d->NumChannels),
        {d->Width, d->Height, d->Depth},
        levels,
        d->Flags);
    *array = reinterpret_cast<CUmipmappedArray>(made);
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return call([&] {
    current_context();
    mipmapped_array_destroy(handle_of(array));
  });
}

CUresult cuMipmappedArrayGetLevel(
    CUarray* level,
    CUmipmappedArray array,
    unsigned number) {
  return call([&] {
    current_context();
    cudaArray_t found = nullptr;
    mipmapped_array_get_level(&found, handle_of(array), number);
    store(level, reinterpret_cast<CUarray>(found));
  });
}

CUresult cuArrayGetPlane(CUarray* plane, CUarray array, unsigned) {
  return call([&] {
    current_context();
    array_get_missing(plane, handle_of(array));
  });
}

CUresult cuArrayGetSparseProperties(
    CUDA_ARRAY_SPARSE_PROPERTIES* properties,
    CUarray array) {
  return call([&] {
    current_context();
    array_get_missing(properties, handle_of(array));
  });
}

CUresult cuMipmappedArrayGetSparseProperties(
    CUDA_ARRAY_SPARSE_PROPERTIES* properties,
    CUmipmappedArray array) {
  return call([&] {
    current_context();
    mipmapped_array_get_missing(properties, handle_of(array));
  });
}

CUresult cuArrayGetMemoryRequirements(
    CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements,
    CUarray array,
    CUdevice) {
  return call([&] {
    current_context();
    array_get_missing(requirements, handle_of(array));
  });
}

CUresult cuMipmappedArrayGetMemoryRequirements(
    CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements,
    CUmipmappedArray array,
    CUdevice) {
  return call([&] {
    current_context();
    mipmapped_array_get_missing(requirements, handle_of(array));
  });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(
    size_t* elements,
    CUarray_format format,
    unsigned channels,
    CUdevice device) {
  return call([&] {
    device_get_texture_1d_linear_max_width(
        elements, accelerator::driver::format_of(format, channels), device);
  });
}

CUresult cuMemcpyDtoA(
    CUarray to,
    size_t offset,
    CUdeviceptr from,
    size_t bytes) {
  return call([&] {
    current_context();
    copy_line(
        in_line(to, offset),
        in_memory(pointer(from)),
        bytes,
        cudaMemcpyDeviceToDevice,
        nullptr,
        true);
  });
}

CUresult cuMemcpyAtoD(
    CUdeviceptr to,
    CUarray from,
    size_t offset,
    size_t bytes) {
  return call([&] {
    current_context();
    copy_line(
        in_memory(pointer(to)),
        in_line(from, offset),
        bytes,
        cudaMemcpyDeviceToDevice,
        nullptr,
        true);
  });
}

CUresult cuMemcpyHtoA(
    CUarray to,
    size_t offset,
    const void* from,
    size_t bytes) {
  return call([&] {
    current_context();
    copy_line(
        in_line(to, offset),
        in_memory(from),
        bytes,
        cudaMemcpyHostToDevice,
        nullptr,
        true);
  });
}

CUresult cuMemcpyAtoH(void* to, CUarray from, size_t offset, size_t bytes) {
  return call([&] {
    current_context();
    copy_line(
        in_memory(to),
        in_line(from, offset),
        bytes,
        cudaMemcpyDeviceToHost,
        nullptr,
        true);
  });
}

CUresult cuMemcpyAtoA(
    CUarray to,
    size_t to_offset,
    CUarray from,
    size_t from_offset,
    size_t bytes) {
  return call([&] {
    current_context();
    copy_line(
        in_line(to, to_offset),
        in_line(from, from_offset),
        bytes,
        cudaMemcpyDeviceToDevice,
        nullptr,
        true);
  });
}

CUresult cuMemcpyHtoAAsync(
    CUarray to,
    size_t offset,
    const void* from,
    size_t bytes,
    CUstream stream) {
  return call([&] {
    current_context();
    copy_line(
        in_line(to, offset),
        in_memory(from),
        bytes,
        cudaMemcpyHostToDevice,
        stream,
        false);
  });
}

CUresult cuMemcpyAtoHAsync(
    void* to,
    CUarray from,
    size_t offset,
    size_t bytes,
    CUstream stream) {
  return call([&] {
    current_context();
    copy_line(
        in_memory(to),
        in_line(from, offset),
        bytes,
        cudaMemcpyDeviceToHost,
        stream,
        false);
  });
}

} // extern "C"

PER_THREAD(4, cuMemcpyDtoA, _ptds)
PER_THREAD(4, cuMemcpyAtoD, _ptds)
PER_THREAD(4, cuMemcpyHtoA, _ptds)
PER_THREAD(4, cuMemcpyAtoH, _ptds)
PER_THREAD(5, cuMemcpyAtoA, _ptds)
PER_THREAD(5, cuMemcpyHtoAAsync, _ptsz)
PER_THREAD(5, cuMemcpyAtoHAsync, _ptsz)
