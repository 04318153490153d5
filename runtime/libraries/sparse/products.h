// Products of sparse matrices with dense ones, whatever function asks for them.
#pragma once

#include <cusparse.h>

#include "runtime/libraries/sparse/descriptors.h"

namespace accelerator::sparse {

/// Puts c = alpha * op(a) * op(b) + beta * c of all batches into the stream.
/// @param compute the type of the two scalars.
cusparseStatus_t submit_product(
    const char* function,
    cusparseHandle_t handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    cudaDataType compute,
    const void* alpha,
    const cusparseSpMatDescr& a,
    const cusparseDnMatDescr& b,
    const void* beta,
    const cusparseDnMatDescr& c);

} // namespace accelerator::sparse
