// Zeros and ones.
#include "accelerator/operators/tensors/stand_in.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <cstdlib>

namespace torch_cuda::operators {
namespace {

void release(void* data) {
  std::free(data);
}

// How many elements lie between the first and the last one of a tensor.
int64_t extent(const c10::TensorImpl& like) {
  if (like.numel() == 0) {
    return 0;
  }
  int64_t last = 0;
  for (int64_t i = 0; i < like.dim(); ++i) {
    last += (like.size(i) - 1) * like.stride(i);
  }
  return last + 1;
}

} // namespace

c10::DataPtr stand_in(std::size_t bytes) {
  void* data = bytes == 0 ? nullptr : std::calloc(bytes, 1);
  TORCH_CHECK_WITH(
      OutOfMemoryError,
      data != nullptr || bytes == 0,
      "torch_cuda: no ",
      bytes,
      " bytes of the host's memory to find the shape of an operator's result "
      "with, while a CUDA graph is captured");
  return {data, data, &release, c10::kCPU};
}

bool is_stand_in(const c10::DataPtr& data) {
  return data.get_deleter() == &release;
}

void fill_stand_in(
    const c10::Storage& storage,
    const c10::TensorImpl& like,
    int integers) {
  const auto type = c10::typeMetaToScalarType(like.dtype());
  const bool integral = c10::isIntegralType(type, /*includeBool=*/true);
  const auto count = extent(like);
  if (c10::isQIntType(type) || count == 0 || (integral && integers == 0)) {
    return;
  }
  const auto reached = static_cast<size_t>(like.storage_offset() + count) *
      like.dtype().itemsize();
  if (reached > storage.nbytes()) {
    return; // who reads it says so
  }
  at::from_blob(
      static_cast<char*>(storage.mutable_data()) +
          like.storage_offset() * static_cast<int64_t>(like.dtype().itemsize()),
      {count},
      at::TensorOptions(type))
      .fill_(integral ? integers : 1);
}

} // namespace torch_cuda::operators
