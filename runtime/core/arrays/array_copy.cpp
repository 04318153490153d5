#include "runtime/core/arrays/array_copy.h"

#include <algorithm>
#include <memory>

#include "runtime/core/arrays/array.h"

namespace accelerator::runtime {
namespace {

// Whether [position, position + size) is in [0, end).
bool within(std::size_t position, std::size_t size, std::size_t end) {
  return size <= end && position <= end - size;
}

BoxPlace memory_of(const CopyPlace& place, const cudaExtent& extent) {
  if (place.array == nullptr) {
    return {place.memory, place.position};
  }
  const auto array = array_table().get(place.array);
  const ArrayShape& shape = array->shape;
  const std::size_t element = shape.element.bytes();
  const cudaPos& position = place.position;
  require(position.x % element == 0 && extent.width % element == 0);
  require(
      within(position.x, extent.width, shape.row_bytes()) &&
      within(position.y, extent.height, shape.rows()) &&
      within(position.z, extent.depth, shape.slices()));
  return {
      {reinterpret_cast<void*>(array->begin),
       shape.pitch(),
       shape.row_bytes(),
       shape.rows()},
      position};
}

// A program's elements as bytes.
std::size_t as_bytes(std::size_t elements, std::size_t size) {
  std::size_t bytes = 0;
  require(!__builtin_mul_overflow(elements, size, &bytes));
  return bytes;
}

// Where a run of bytes has come to.
class Cursor {
 public:
  explicit Cursor(CopyPlace place) : place_(place) {
    if (place_.array != nullptr) {
      const ArrayShape& shape = array_table().get(place_.array)->shape;
      require(place_.position.x < shape.row_bytes());
      row_ = shape.row_bytes();
    }
  }

  const CopyPlace& place() const {
    return place_;
  }
  /// Bytes of a row; 0: it has none.
  std::size_t row() const {
    return row_;
  }
  bool at_row() const {
    return row_ == 0 || place_.position.x == 0;
  }
  std::size_t left_of_row(std::size_t bytes) const {
    return row_ == 0 ? bytes : std::min(bytes, row_ - place_.position.x);
  }
  /// Says what the memory's rows are for a box.
  CopyPlace with_pitch(std::size_t width, std::size_t height) const {
    CopyPlace place = place_;
    if (row_ == 0) {
      place.memory.pitch = place.memory.xsize = width;
      place.memory.ysize = height;
    }
    return place;
  }
  void advance(std::size_t width, std::size_t height) {
    if (row_ == 0) {
      place_.memory.ptr =
          static_cast<char*>(place_.memory.ptr) + width * height;
      return;
    }
    place_.position.x += width;
    place_.position.y += height - 1;
    if (place_.position.x == row_) {
      place_.position.x = 0;
      ++place_.position.y;
    }
  }

 private:
  CopyPlace place_;
  std::size_t row_ = 0;
};

} // namespace

CopyWork box_copy(
    const CopyPlace& to,
    const CopyPlace& from,
    const cudaExtent& extent,
    cudaMemcpyKind kind) {
  const BoxPlace to_memory = memory_of(to, extent);
  const BoxPlace from_memory = memory_of(from, extent);
  const bool to_host =
      kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  const bool from_host =
      kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  require(
      (to.array == nullptr || !to_host) &&
          (from.array == nullptr || !from_host),
      cudaErrorInvalidMemcpyDirection);
  CopyWork work = box_copy(to_memory, from_memory, extent, kind);
  work.to_array = to.array;
  work.from_array = from.array;
  return work;
}

CopyWork box_copy(const cudaMemcpy3DParms& p) {
  require(p.srcArray == nullptr || p.srcPtr.ptr == nullptr);
  require(p.dstArray == nullptr || p.dstPtr.ptr == nullptr);
  const std::size_t from_element = element_bytes(p.srcArray);
  const std::size_t to_element = element_bytes(p.dstArray);
  require(
      p.srcArray == nullptr || p.dstArray == nullptr ||
      from_element == to_element);
  CopyPlace to{p.dstArray, p.dstPtr, p.dstPos};
  CopyPlace from{p.srcArray, p.srcPtr, p.srcPos};
  to.position.x = as_bytes(to.position.x, to_element);
  from.position.x = as_bytes(from.position.x, from_element);
  cudaExtent extent = p.extent;
  extent.width = as_bytes(extent.width, std::max(from_element, to_element));
  return box_copy(to, from, extent, p.kind);
}

std::vector<CopyWork> rows_copy(
    const CopyPlace& to,
    const CopyPlace& from,
    std::size_t bytes,
    cudaMemcpyKind kind) {
  std::vector<CopyWork> boxes;
  Cursor target(to);
  Cursor source(from);
  while (bytes > 0) {
    std::size_t width =
        std::min(target.left_of_row(bytes), source.left_of_row(bytes));
    std::size_t height = 1;
    // Rows that both have whole are one box.
    const std::size_t row = std::max(target.row(), source.row());
    if (width == row && target.at_row() && source.at_row() &&
        (target.row() == 0 || target.row() == row) &&
        (source.row() == 0 || source.row() == row)) {
      height = bytes / row;
    }
    boxes.push_back(box_copy(
        target.with_pitch(width, height),
        source.with_pitch(width, height),
        {width, height, 1},
        kind));
    target.advance(width, height);
    source.advance(width, height);
    bytes -= width * height;
  }
  return boxes;
}

CopyPlace place_in_array(const void* handle, const void* memory) {
  const auto array = array_table().get(handle);
  const std::size_t offset = address_of(memory) - array->begin;
  CopyPlace place;
  place.array = static_cast<cudaArray_const_t>(handle);
  place.position = {
      offset % array->shape.pitch(),
      offset % array->shape.slice() / array->shape.pitch(),
      offset / array->shape.slice()};
  return place;
}

std::size_t element_bytes(cudaArray_const_t array) {
  return array == nullptr ? 1 : array_table().get(array)->shape.element.bytes();
}

cudaMemcpy3DParms parameters_of(const CopyWork& work) {
  const auto place = [&](const void* array,
                         const void* memory,
                         std::size_t pitch,
                         std::size_t slice) {
    if (array != nullptr) {
      return place_in_array(array, memory);
    }
    CopyPlace plain;
    plain.memory = {
        const_cast<void*>(memory),
        pitch,
        work.width,
        pitch == 0 ? work.height : slice / pitch};
    return plain;
  };
  const CopyPlace to =
      place(work.to_array, work.to, work.to_pitch, work.to_slice);
  const CopyPlace from =
      place(work.from_array, work.from, work.from_pitch, work.from_slice);
  const std::size_t to_element = element_bytes(to.array);
  const std::size_t from_element = element_bytes(from.array);
  cudaMemcpy3DParms parameters{};
  parameters.dstArray = const_cast<cudaArray_t>(to.array);
  parameters.dstPtr = to.memory;
  parameters.dstPos = to.position;
  parameters.dstPos.x /= to_element;
  parameters.srcArray = const_cast<cudaArray_t>(from.array);
  parameters.srcPtr = from.memory;
  parameters.srcPos = from.position;
  parameters.srcPos.x /= from_element;
  parameters.extent = {
      work.width / std::max(to_element, from_element), work.height, work.depth};
  parameters.kind = work.kind;
  return parameters;
}

} // namespace accelerator::runtime
