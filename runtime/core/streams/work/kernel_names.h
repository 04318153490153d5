// Names of kernels of the host that are made while the process runs.
#pragma once

#include <string>

namespace accelerator::runtime {

/// The same text, which lives as long as the process. Thread-safe.
const char* lasting_kernel_name(const std::string& name);

} // namespace accelerator::runtime
