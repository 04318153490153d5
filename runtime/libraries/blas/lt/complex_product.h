// Products of complex matrices, which cuBLASLt has without epilogues and
// scales.
#pragma once

#include "runtime/libraries/blas/lt/call.h"

namespace accelerator::blas::lt {

/// Whether any of the matrices is complex.
bool is_complex_product(
    const MatrixLayout& a,
    const MatrixLayout& b,
    const MatrixLayout& c,
    const MatrixLayout& d);

/// Whether such a product can be computed: all of one type, which is that of
/// alpha and beta, by columns or by rows, and nothing but the product.
bool can_multiply(
    const MatmulDesc& desc,
    const MatrixLayout& a,
    const MatrixLayout& b,
    const MatrixLayout& c,
    const MatrixLayout& d);

/// Computes it, as work of a stream.
void run_complex(const Call& call);

} // namespace accelerator::blas::lt
