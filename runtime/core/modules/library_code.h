// Which libraries of the process have code that a device can compile: PTX.
#pragma once

#include <string>

#include "runtime/core/modules/module.h"

namespace accelerator::runtime {

/// "libtorch_cuda.so+0x1234": where in a library its code lies.
std::string place_of_code(const Module::Image& image);

/// Notes the code that a library registers when it is loaded. Reads nothing of
/// it until somebody asks.
void note_library_code(const Module::Image& image);

/// Takes that back, when the library is unloaded.
void forget_library_code(const Module::Image& image);

} // namespace accelerator::runtime

extern "C" {

/// What the code of a library is, of the fat binaries that it registered.
/// @param address any address in the library: of a function or of data.
/// @returns 1 when there is PTX, for each device of this process that runs PTX,
/// 0 when there is none: machine code, or PTX for newer devices; -1 when it has
/// registered nothing.
int accelerator_library_has_ptx(const void* address);
}
