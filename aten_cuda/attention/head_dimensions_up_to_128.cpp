// What takes the place of flash attention's kernels for head dimensions above
// 128 in a build with
// --//config:attention=flash-128. Scaled dot product attention does not choose
// them there (sdp_utils_up_to_128.cpp); only programs that call flash attention
// by name come here.

#include <ATen/native/transformers/cuda/flash_attn/flash.h>

#include <c10/util/Exception.h>
#include <cutlass/numeric_types.h>

namespace pytorch_flash {

namespace {

[[noreturn]] void refuse(int head_dimension) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      "Flash attention: the head dimension is ",
      head_dimension,
      ", and this torch_cuda has the kernels for up to 128. Needed: "
      "torch.nn.functional.scaled_dot_product_attention, which chooses another kernel, or a build with "
      "--//config:attention=all.");
}

} // namespace

template <typename T, int Headdim>
void run_mha_fwd_(Flash_fwd_params& params, cudaStream_t /*stream*/) {
  refuse(params.d);
}

template <typename T, int Headdim>
void run_mha_fwd_splitkv_dispatch(
    Flash_fwd_params& params,
    cudaStream_t /*stream*/) {
  refuse(params.d);
}

template <typename T, int Headdim>
void run_mha_bwd_(Flash_bwd_params& params, cudaStream_t /*stream*/) {
  refuse(params.d);
}

#define REFUSED(type, dimension)                               \
  template void run_mha_fwd_<type, dimension>(                 \
      Flash_fwd_params&, cudaStream_t);                        \
  template void run_mha_fwd_splitkv_dispatch<type, dimension>( \
      Flash_fwd_params&, cudaStream_t);                        \
  template void run_mha_bwd_<type, dimension>(Flash_bwd_params&, cudaStream_t);

#define REFUSED_FOR_BOTH_TYPES(dimension) \
  REFUSED(cutlass::half_t, dimension)     \
  REFUSED(cutlass::bfloat16_t, dimension)

REFUSED_FOR_BOTH_TYPES(160)
REFUSED_FOR_BOTH_TYPES(192)
REFUSED_FOR_BOTH_TYPES(224)
REFUSED_FOR_BOTH_TYPES(256)

#undef REFUSED_FOR_BOTH_TYPES
#undef REFUSED

} // namespace pytorch_flash
