// CUDA half of torch/csrc/Module.cpp: functions of torch._C that say which
// attention backend can be used, and how much space cuDNN's batch norm saves
// for its backward pass. torch.nn.attention and torch.backends.cuda call them.
#include "python/csrc/intra_file/sites.h"

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAConfig.h>
#include <ATen/native/transformers/cuda/sdp_utils.h>
#include <c10/util/Exception.h>
#if AT_CUDNN_ENABLED()
#include <ATen/native/cudnn/BatchNorm.h>
#endif

namespace torch_cuda::intra_file {
namespace {

size_t batch_norm_reserve_space_size(
    [[maybe_unused]] const at::Tensor& input,
    [[maybe_unused]] bool training) {
#if AT_CUDNN_ENABLED()
  return at::native::_get_cudnn_batch_norm_reserve_space_size(input, training);
#else
  TORCH_CHECK(
      false,
      "_get_cudnn_batch_norm_reserve_space_size: "
      "ATen not compiled with cuDNN support");
#endif
}

// Replaces torch._C's function of that name. The CPU build's must go: a second
// definition beside it would become an overload that is never reached.
template <typename Function, typename... Extra>
void replace(
    py::module_& torch_c,
    Swaps& swaps,
    const char* name,
    Function&& function,
    const Extra&... extra) {
  TORCH_CHECK(
      py::hasattr(torch_c, name),
      "torch_cuda: this torch has no torch._C.",
      name,
      ". Install the torch version that torch_cuda was built for.");
  swaps.attribute(
      torch_c,
      name,
      py::cpp_function(
          std::forward<Function>(function),
          py::name(name),
          py::scope(torch_c),
          extra...));
}

} // namespace

void init_backend_queries(py::module_& torch_c, Swaps& swaps) {
  replace(
      torch_c,
      swaps,
      "_is_flash_attention_available",
      &sdp::is_flash_attention_available);
  replace(
      torch_c,
      swaps,
      "_can_use_flash_attention",
      &sdp::can_use_flash_attention);
  replace(
      torch_c,
      swaps,
      "_can_use_mem_efficient_attention",
      &sdp::can_use_mem_efficient_attention);
  replace(
      torch_c,
      swaps,
      "_can_use_cudnn_attention",
      &sdp::can_use_cudnn_attention);
  replace(
      torch_c,
      swaps,
      "_get_cudnn_batch_norm_reserve_space_size",
      &batch_norm_reserve_space_size,
      py::arg("input"),
      py::arg("training"));
}

} // namespace torch_cuda::intra_file
