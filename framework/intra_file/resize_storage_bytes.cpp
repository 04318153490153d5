// CUDA half of torch/csrc/inductor/resize_storage_bytes.cpp: the operator
// inductor::resize_storage_bytes_, by which compiled graphs free and regrow the
// memory of a tensor (FSDP relies on it).
//
// Upstream registers one kernel for all backends, whose CUDA branch says "built
// without cuda" in a CPU build. A kernel registered for a backend by name goes
// before that one, so the CUDA backends get theirs here and the other backends
// keep upstream's.
#include <ATen/core/Tensor.h>
#include <ATen/native/cuda/Resize.h>
#include <c10/core/SymInt.h>
#include <torch/library.h>

namespace torch_cuda::intra_file {
namespace {

// Makes the storage behind `tensor` `new_size` bytes long, keeping what fits;
// the tensor's shape stays as it is. Sizes that are not known yet are refused.
void resize_storage_bytes_cuda(const at::Tensor& tensor, c10::SymInt new_size) {
  at::native::resize_bytes_cuda(
      tensor.storage().unsafeGetStorageImpl(), new_size.expect_int());
}

} // namespace

TORCH_LIBRARY_IMPL(inductor, CUDA, library) {
  library.impl("resize_storage_bytes_", TORCH_FN(resize_storage_bytes_cuda));
}

// The backends beside CUDA whose tensors have a CUDA storage.
TORCH_LIBRARY_IMPL(inductor, QuantizedCUDA, library) {
  library.impl("resize_storage_bytes_", TORCH_FN(resize_storage_bytes_cuda));
}

TORCH_LIBRARY_IMPL(inductor, NestedTensorCUDA, library) {
  library.impl("resize_storage_bytes_", TORCH_FN(resize_storage_bytes_cuda));
}

} // namespace torch_cuda::intra_file
