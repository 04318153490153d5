// Short names of what is done with an operand of a product.
#pragma once

#include <cusparse.h>

namespace accelerator::sparse {

constexpr auto kAsIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto kTurned = CUSPARSE_OPERATION_TRANSPOSE;
constexpr auto kConjugate = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;

} // namespace accelerator::sparse
