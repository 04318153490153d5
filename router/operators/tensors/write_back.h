// Which bytes of a copy go back to where the copy was taken from.
//
// Others write to the same storage meanwhile: another stream to the elements
// between those of a strided tensor, another kernel to elements that this one
// leaves alone. So nothing goes back that the kernel did not write.
#pragma once

#include <c10/core/TensorImpl.h>

#include <cstddef>
#include <vector>

namespace torch_cuda::operators {

/// How much of the tensors that it writes to a kernel writes.
enum class Writes {
  All, // each element, as elementwise operators do
  Some, // elements that data choose, such as those of an index
};

/// Rows of bytes at equal distances, from the beginning of a storage.
struct Rows {
  std::size_t begin;
  std::size_t width; // bytes of a row
  std::size_t pitch; // from one row to the next
  std::size_t count; // of rows
};

/// The elements of a strided tensor, and nothing between them, in its storage
/// of `bytes` bytes.
std::vector<Rows> rows_of(const c10::TensorImpl& tensor, std::size_t bytes);

/// The elements that differ between two copies of a storage, both given by
/// their first byte, from byte `begin` to before `end`.
/// @param item bytes of an element; none is split.
std::vector<Rows> changed_rows(
    const char* before,
    const char* after,
    std::size_t begin,
    std::size_t end,
    std::size_t item);

} // namespace torch_cuda::operators
