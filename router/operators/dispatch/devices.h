// Which devices run the CUDA kernels of this build, and which do not.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace torch_cuda::operators {

/// True for a build with upstream's CUDA kernels, whichever its op profile has.
/// To be asked before anything is registered.
bool has_upstreams_kernels();

/// What the code of a library of the process is.
enum class LibraryCode {
  kNone, // it has registered none
  kMachineCode, // which no device of this runtime runs
  kPtx,
};

/// The code of the library that an address is in: of a function or of data.
/// kPtx without a runtime that can be asked, for NVIDIA's runs all.
LibraryCode code_of_library(const void* address);

/// True for an address in PyTorch's own libraries.
bool is_in_pytorch(const void* address);

/// The folder of PyTorch's package, with a slash at its end.
std::string folder_of_pytorch();

/// True when PyTorch's own kernels are in this process as code that devices
/// can run. Those of PyTorch's packages are machine code for NVIDIA's GPUs.
bool can_run_upstreams_kernels();

/// True for a build of PyTorch with kernels that no device of this process can
/// run, as PyTorch's packages are.
bool has_machine_code_only();

/// True for a device that runs CUDA code, PyTorch's or not.
bool runs_code(c10::DeviceIndex device);

/// True for a device that PyTorch's own CUDA kernels serve: it runs CUDA code,
/// and this build of PyTorch has them as code that it can run.
/// The first call asks the runtime about all devices; without a runtime that
/// can be asked they are NVIDIA's, and all of them do.
bool serves_itself(c10::DeviceIndex device);

/// True for a device whose memory the host reads and writes at its addresses:
/// the CPU's kernels work on it. Those of the others work on copies.
bool host_sees(c10::DeviceIndex device);

/// True when PyTorch's own kernels serve all devices of this process.
bool all_serve_themselves();

/// True when they serve some devices of this process, and others not.
bool mixed();

} // namespace torch_cuda::operators
