// Matrices of which two of four numbers in a row are zero, by CUTLASS's
// operators.
#pragma once

namespace torch_cuda::operators {

/// Registers aten::_to_sparse_semi_structured, _sparse_semi_structured_mm,
/// _addmm and _linear.
void route_semi_structured();

} // namespace torch_cuda::operators
