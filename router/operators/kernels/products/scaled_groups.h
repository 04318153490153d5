// Products of groups of matrices of 8 bits with scales
// (aten::_scaled_grouped_mm and _v2), which the CPU does not have.
#pragma once

namespace torch_cuda::operators {

/// Registers them.
void route_scaled_groups();

} // namespace torch_cuda::operators
