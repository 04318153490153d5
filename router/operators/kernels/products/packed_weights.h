// Products with weights of 4 and 8 bits, packed as CUDA's kernels read them.
#pragma once

namespace torch_cuda::operators {

/// Registers aten::_convert_weight_to_int4pack, aten::_weight_int4pack_mm and
/// aten::_mixed_dtypes_linear.
void route_packed_weights();

} // namespace torch_cuda::operators
