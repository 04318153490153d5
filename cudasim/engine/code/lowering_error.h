// What is thrown for a kernel that cannot be made ready.
#pragma once

#include <stdexcept>

namespace cudasim::engine {

/// A kernel cannot be made ready: an instruction that is not known, a symbol
/// that is missing. Names kernel, source, line and instruction.
class LoweringError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

} // namespace cudasim::engine
