// Matrices of which two of four numbers in a row are zero, by cuSPARSELt's
// operators.
#pragma once

namespace torch_cuda::operators {

/// Registers aten::_cslt_compress, _cslt_sparse_mm and _cslt_sparse_mm_search.
void route_cusparselt();

} // namespace torch_cuda::operators
