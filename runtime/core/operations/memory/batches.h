// Copies in batches, as the runtime and the driver of CUDA 13 take them.
#pragma once

#include <driver_types.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/core/arrays/array_copy.h"
#include "runtime/core/memory/copy.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime::operations {

/// When the source of a copy is read: the numbers of cudaMemcpySrcAccessOrder.
enum class SourceAccess : int { kStream = 1, kDuringCall, kAny };

struct BatchCopy {
  CopyWork work;
  SourceAccess access;
};

/// Puts copies into a stream, all or none.
/// @param failed null, or where to write which copy is at fault; all ones when
/// it is none in particular.
void mem_copy_batch(
    std::vector<BatchCopy> copies,
    size_t* failed,
    cudaStream_t stream);

/// The copies of cudaMemcpyBatchAsync and cuMemcpyBatchAsync.
/// @param indices the first copy of each of the attributes.
/// @param pointer makes a pointer of one of the addresses.
template <typename To, typename From, typename Attributes, typename Pointer>
std::vector<BatchCopy> batch_of(
    To* to,
    From* from,
    const size_t* sizes,
    size_t count,
    const Attributes* attributes,
    const size_t* indices,
    size_t attribute_count,
    Pointer&& pointer) {
  require(to != nullptr && from != nullptr && sizes != nullptr && count > 0);
  require(
      attributes != nullptr && indices != nullptr && attribute_count > 0 &&
      attribute_count <= count && indices[0] == 0);
  for (std::size_t i = 1; i < attribute_count; ++i) {
    require(indices[i] > indices[i - 1] && indices[i] < count);
  }
  std::vector<BatchCopy> copies;
  std::size_t current = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (current + 1 < attribute_count && indices[current + 1] == i) {
      ++current;
    }
    copies.push_back(
        {linear_copy(
             pointer(to[i]), pointer(from[i]), sizes[i], cudaMemcpyDefault),
         static_cast<SourceAccess>(attributes[current].srcAccessOrder)});
  }
  return copies;
}

/// The array of an operand; null: it is memory.
template <typename Operand>
cudaArray_t array_of(const Operand& operand) {
  const int type = static_cast<int>(operand.type);
  require(type == 1 || type == 2); // cudaMemcpyOperandTypePointer and ...Array
  if (type == 1) {
    return nullptr;
  }
  require(operand.op.array.array != nullptr, cudaErrorInvalidResourceHandle);
  return reinterpret_cast<cudaArray_t>(operand.op.array.array);
}

/// The copies of cudaMemcpy3DBatchAsync and cuMemcpy3DBatchAsync.
template <typename Operation, typename Pointer>
std::vector<BatchCopy> batch_of_boxes(
    const Operation* list,
    size_t count,
    Pointer&& pointer) {
  require(list != nullptr && count > 0);
  std::vector<BatchCopy> copies;
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& operation = list[i];
    const cudaArray_t to = array_of(operation.dst);
    const cudaArray_t from = array_of(operation.src);
    // Of memory, too, the sizes count the array's elements.
    const std::size_t element =
        std::max(element_bytes(to), element_bytes(from));
    const auto memory = [&](const auto& operand) {
      if (array_of(operand) != nullptr) {
        return cudaPitchedPtr{};
      }
      const auto& place = operand.op.ptr;
      // Without a length there is no gap.
      const std::size_t row =
          place.rowLength != 0 ? place.rowLength : operation.extent.width;
      const std::size_t rows =
          place.layerHeight != 0 ? place.layerHeight : operation.extent.height;
      require(row >= operation.extent.width && rows >= operation.extent.height);
      std::size_t pitch = 0;
      require(!__builtin_mul_overflow(row, element, &pitch));
      return cudaPitchedPtr{pointer(place.ptr), pitch, pitch, rows};
    };
    const auto position = [](const auto& operand) {
      const auto& offset = operand.op.array.offset;
      return array_of(operand) != nullptr
          ? cudaPos{offset.x, offset.y, offset.z}
          : cudaPos{};
    };
    cudaMemcpy3DParms box{};
    box.srcArray = from;
    box.srcPtr = memory(operation.src);
    box.srcPos = position(operation.src);
    box.dstArray = to;
    box.dstPtr = memory(operation.dst);
    box.dstPos = position(operation.dst);
    box.extent = {
        operation.extent.width,
        operation.extent.height,
        operation.extent.depth};
    require(
        box.extent.width > 0 && box.extent.height > 0 && box.extent.depth > 0);
    box.kind = cudaMemcpyDefault;
    copies.push_back(
        {box_copy(box), static_cast<SourceAccess>(operation.srcAccessOrder)});
  }
  return copies;
}

} // namespace accelerator::runtime::operations
