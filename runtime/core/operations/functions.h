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
