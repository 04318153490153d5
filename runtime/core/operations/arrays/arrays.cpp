#include "runtime/core/operations/arrays/arrays.h"

#include "runtime/core/arrays/texture_limits.h"
#include "runtime/core/graphs/capture.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {
namespace {

// Work that was given before may still use it.
void release(std::uint64_t begin, int device) {
  const auto piece = machine().addresses().find(begin);
  require(piece.has_value());
  machine().synchronize_users(*piece);
  require(machine().device(device).memory().release(begin, Space::kArray));
}

} // namespace

void array_create(
    cudaArray_t* array,
    const cudaChannelFormatDesc& format,
    const cudaExtent& extent,
    unsigned flags) {
  require_no_unsafe_capture();
  require(array != nullptr);
  Device& device = current_device();
  *array = reinterpret_cast<cudaArray_t>(array_table().add(
      make_array(device.memory(), make_shape(format, extent, flags, false))));
}

void array_destroy(cudaArray_t handle) {
  require_no_unsafe_capture();
  current_device();
  // A level goes with the others.
  require(!array_table().get(handle)->is_level);
  const auto array = array_table().remove(handle);
  release(array->begin, array->device);
}

std::shared_ptr<Array> resolve_array(cudaArray_const_t array) {
  current_device();
  return array_table().get(array);
}

void mipmapped_array_create(
    cudaMipmappedArray_t* array,
    const cudaChannelFormatDesc& format,
    const cudaExtent& extent,
    unsigned levels,
    unsigned flags) {
  require_no_unsafe_capture();
  require(array != nullptr);
  Device& device = current_device();
  const auto made = make_mipmapped_array(
      device.memory(), make_shape(format, extent, flags, true), levels);
  for (const auto& level : made->levels) {
    array_table().add(level);
  }
  *array =
      reinterpret_cast<cudaMipmappedArray_t>(mipmapped_array_table().add(made));
}

void mipmapped_array_destroy(cudaMipmappedArray_t handle) {
  require_no_unsafe_capture();
  current_device();
  const auto array = mipmapped_array_table().remove(handle);
  for (const auto& level : array->levels) {
    array_table().remove(level.get());
  }
  release(array->begin, array->device);
}

void mipmapped_array_get_level(
    cudaArray_t* level,
    cudaMipmappedArray_const_t handle,
    unsigned number) {
  current_device();
  const auto array = mipmapped_array_table().get(handle);
  require(number < array->levels.size());
  store(level, reinterpret_cast<cudaArray_t>(array->levels[number].get()));
}

void array_get_missing(const void* result, cudaArray_t array) {
  current_device();
  array_table().get(array);
  require(result != nullptr);
  throw Failure(cudaErrorInvalidValue);
}

void mipmapped_array_get_missing(
    const void* result,
    cudaMipmappedArray_t array) {
  current_device();
  mipmapped_array_table().get(array);
  require(result != nullptr);
  throw Failure(cudaErrorInvalidValue);
}

void device_get_texture_1d_linear_max_width(
    size_t* elements,
    const cudaChannelFormatDesc& format,
    int device) {
  machine().device(device);
  format_of(format);
  store(elements, kLinearTexture);
}

} // namespace accelerator::runtime::operations
