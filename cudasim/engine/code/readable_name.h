// Names of kernels as people write them.
#pragma once

#include <string>

namespace cudasim::engine {

/// The C++ name behind a mangled one; other names as they are.
std::string readable_name(const std::string& name);

} // namespace cudasim::engine
