// Which operators of pu are served, and how.
#pragma once

namespace torch_pu {

/// Registers pu's operators. Once a process. Returns how many go to CUDA.
int register_operators();

} // namespace torch_pu
