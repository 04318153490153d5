// What lives here: making libtorch_cpu ask the CUDA backend again after it was
// told, while `import torch` ran, that there is none.
#pragma once

namespace torch_cuda {

// Makes `at::detail::getCUDAHooks()` answer with the CUDA backend's hooks.
//
// libtorch_cpu asks the hooks registry once per process and keeps the answer.
// libtorch_python asks while `import torch` runs, long before a plugin can be
// loaded, so the answer kept is the "no CUDA" object. The object has no data,
// only a pointer to its virtual table: it is built again, in the same place,
// as the CUDA one. Does nothing where the hooks are CUDA's already.
//
// Returns: true when it changed the hooks, false when there was nothing to do.
// Errors: std::runtime_error when the kept object is neither the "no CUDA" one
// nor ours, that is, when another CUDA backend was loaded into this process.
bool install_cuda_hooks();

// Takes back what `install_cuda_hooks` did: the hooks say "no CUDA" again.
// To be called only after `install_cuda_hooks` returned true.
void remove_cuda_hooks() noexcept;

} // namespace torch_cuda
