// Products of matrices of 8 and 4 bits with scales (aten::_scaled_mm and its
// kin), which the CPU has in part.
#pragma once

namespace torch_cuda::operators {

/// Registers them.
void route_scaled_products();

} // namespace torch_cuda::operators
