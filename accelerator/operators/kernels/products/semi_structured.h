// Matrices of which two of four numbers in a row are zero, by the operators of
// CUTLASS and cuSPARSELt.
#pragma once

namespace torch_cuda::operators {

/// Registers aten::_to_sparse_semi_structured, _sparse_semi_structured_mm,
/// _addmm and _linear, _cslt_compress, _cslt_sparse_mm and
/// _cslt_sparse_mm_search.
void route_semi_structured();

} // namespace torch_cuda::operators
