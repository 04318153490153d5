// Kernels: attributes and parameters. Each function is what the ones of that
// name in CUDA's runtime and driver do, once they know which kernel is meant on
// which device; it throws a Failure with the status that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace accelerator::runtime {

class Device;
class Function;

} // namespace accelerator::runtime

namespace accelerator::runtime::operations {

/// The attribute "max dynamic shared size": what was set, or what a block may
/// have without being asked for.
int max_dynamic_shared_size(Function& function, Device& device);
void func_set_attribute(
    Function& function,
    Device& device,
    cudaFuncAttribute attribute,
    int value);
void func_get_param_info(
    Function& function,
    Device& device,
    size_t index,
    size_t* offset,
    size_t* size);

} // namespace accelerator::runtime::operations
