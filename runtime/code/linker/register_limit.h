// A limit on registers, which a compiler of machine code would keep: as PTX it
// is written down at the kernels, for the device to read.
#pragma once

#include <string>

namespace accelerator::linker {

/// Gives every kernel `.maxnreg`, but for those that say for how many threads
/// or registers they are, which count for more (CUDA C++ programming guide,
/// "Maximum Number of Registers per Thread").
/// @param name of the text, for messages.
/// @param most registers of 32 bits a thread; 0: no limit.
/// @throws SyntaxError
std::string limit_registers(
    const std::string& name,
    std::string ptx,
    unsigned most);

} // namespace accelerator::linker
