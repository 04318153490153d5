// One function for each upstream file whose CUDA half is supplied from here.
// Private to this folder; see intra_file.h for the way in.
//
// Each function takes the module `torch._C` and records what it replaces in
// `swaps`. It throws when torch is not what it expects.
#pragma once

#include "python/csrc/intra_file/swaps.h"

namespace torch_cuda::intra_file {

// torch/csrc/Generator.cpp: torch.Generator(device="cuda").
void init_generator(py::module_& torch_c, Swaps& swaps);

// torch/csrc/Storage.cpp, StorageMethods.cpp: torch.UntypedStorage(...,
// device="cuda") and resize_() of a CUDA storage.
void init_storage(py::module_& torch_c, Swaps& swaps);

// torch/csrc/StorageSharing.cpp: CUDA storages shared between processes.
void init_storage_sharing(py::module_& torch_c, Swaps& swaps);

// torch/csrc/tensor/python_tensor.cpp (through utils/cuda_enabled.h):
// torch.cuda.FloatTensor and its siblings, also as the default tensor type.
void init_legacy_tensor_types(py::module_& torch_c, Swaps& swaps);

// torch/csrc/Module.cpp: _has_cuda, _has_cudnn and the like.
void init_module_flags(py::module_& torch_c, Swaps& swaps);

// torch/csrc/Module.cpp: which attention backend can be used, and cuDNN's
// reserve space for batch norm.
void init_backend_queries(py::module_& torch_c, Swaps& swaps);

// torch/csrc/dynamo/guards.cpp: the allocation that compiled graphs call.
void init_guards(py::module_& torch_c, Swaps& swaps);

// torch/csrc/inductor/aoti_runner/pybind.cpp: AOTIModelContainerRunnerCuda.
void init_aoti_runner(py::module_& torch_c, Swaps& swaps);

// torch/csrc/inductor/aoti_eager/kernel_holder.cpp: eager operators compiled
// ahead of time.
void init_aoti_eager(py::module_& torch_c, Swaps& swaps);

// torch/csrc/jit/tensorexpr/tensorexpr_init.cpp: NNC's CUDA code generator.
void init_tensorexpr(py::module_& torch_c, Swaps& swaps);

} // namespace torch_cuda::intra_file
