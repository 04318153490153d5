// Files that programs name.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "runtime/core/status/status.h"

namespace accelerator::runtime::operations {

/// The content of a file.
/// @throws Failure: cudaErrorInvalidValue, cudaErrorFileNotFound.
inline std::string read_file(const char* path) {
  require(path != nullptr);
  std::ifstream file(path, std::ios::binary);
  require(static_cast<bool>(file), cudaErrorFileNotFound);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace accelerator::runtime::operations
