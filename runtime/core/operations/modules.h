// Modules that programs load, and kernels in them: a module is also what CUDA
// calls a library, and a function what it calls a kernel. Each function is what
// the ones of that name in CUDA's runtime and driver do, once they know the
// device; it throws a Failure with the status that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/core/machine/machine.h"
#include "runtime/core/modules/module.h"

namespace accelerator::runtime::operations {

inline std::shared_ptr<Module> resolve_module(const void* handle) {
  return machine().modules().get(handle);
}

/// Loads a module's code into a device; errors of the code belong to this call.
/// @param max_registers of 32 bits, a thread; 0: there is no limit.
/// @return the module's handle: CUmodule, CUlibrary or cudaLibrary_t.
void* module_load(
    std::shared_ptr<Module> module,
    Device& device,
    unsigned max_registers);

void module_unload(const void* handle);

/// @return the kernel's handle: CUfunction, CUkernel, cudaKernel_t or
/// cudaFunction_t.
void* module_get_function(Module& module, Device& device, const char* name);

} // namespace accelerator::runtime::operations
