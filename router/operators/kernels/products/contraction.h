// The argument `contraction_dim` of products by recipes.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

namespace torch_cuda::operators {

/// Checks that the columns of the first matrix meet the rows of the second.
/// @param name of the operator, for errors.
/// @param dims the dimension of each matrix, or none.
/// @throws c10::Error for other dimensions.
inline void check_contraction(const char* name, c10::IntArrayRef dims) {
  TORCH_CHECK(
      dims.empty() ||
          (dims.size() == 2 && (dims[0] == 1 || dims[0] == -1) &&
           (dims[1] == 0 || dims[1] == -2)),
      name,
      ": contraction_dim must be (1, 0), found ",
      dims);
}

} // namespace torch_cuda::operators
