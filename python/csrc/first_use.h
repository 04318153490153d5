// What lives here: what waits for the first use of CUDA in a process, whoever
// it is that uses it: Python, TorchScript or C++.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace torch_cuda {

// Where the kernels for devices that run no CUDA code, and vendors' kernels,
// come from (router/operators).
struct Operators {
  // Path of the library; none where it is empty.
  std::string library;
  // Device libraries whose operators are not beside them, with the operators'
  // paths.
  std::vector<std::pair<std::string, std::string>> announced;
};

// Says what `route_operators` will load. Once, at activation.
void route_on_first_use(Operators operators);

// Loads the library and has it register its kernels. Does nothing where the
// devices are those of NVIDIA's runtime and the build has upstream's kernels.
// Called when CUDA is initialised, before anything is computed; takes no GIL,
// since another thread may hold it and wait for CUDA.
//
// Errors: c10::Error that says which library or device, and what to do. CUDA is
// not initialised then, and the next use tries again.
void route_operators();

// How many operators were routed; 0 before the first use.
int routed_operators();

} // namespace torch_cuda
