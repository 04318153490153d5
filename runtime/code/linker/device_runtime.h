// What programs link from libcudadevrt, which holds machine code: the functions
// below cooperative groups, and the one that sets the condition of a graph's
// node, as PTX of our own. Source: CUDA's cuda_device_runtime_api.h, and
// cooperative_groups.h for the layout of the grid's workspace, which both use.
#pragma once

#include <string>
#include <string_view>

namespace accelerator::linker {

/// Whether device_runtime() defines the function.
bool is_of_device_runtime(std::string_view function);

/// Whether a text has the name of such a function in it. Cheap.
bool mentions_device_runtime(std::string_view ptx);

/// Whether a text is that of libcudadevrt itself, whose functions call what
/// only NVIDIA's driver has.
bool is_cudadevrt(std::string_view ptx);

/// A module with all of them.
std::string device_runtime();

} // namespace accelerator::linker
