// What lives here: the implementation of bindings.h, the calls into upstream's
// initialisers in the order in which torch/csrc/Module.cpp makes them. The CUDA
// half of files that stay in the CPU build is in intra_file/.
#include "python/csrc/bindings.h"

#include <ATen/cuda/detail/CUDAHooks.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>

#include <string>

// Upstream declares these in torch/csrc/Module.cpp only, so there is no header
// to include.
void THCPStream_init(PyObject* module);
void THCPEvent_init(PyObject* module);
void THCPGraph_init(PyObject* module);
void THCPMemPool_init(PyObject* module);
PyMethodDef* THCPModule_methods();

namespace torch::cuda {
void initModule(PyObject* module);
} // namespace torch::cuda

namespace py = pybind11;

namespace torch_cuda {
namespace {

// Gives `module` the name "torch._C" while upstream binds, so that functions
// and classes get the `__module__`, and submodules the full names, which they
// have in a CUDA build. Code that pickles, prints or looks them up by name
// then sees no difference.
class BindAsTorchC {
 public:
  explicit BindAsTorchC(py::module_ module)
      : module_(std::move(module)), name_(module_.attr("__name__")) {
    module_.attr("__name__") = "torch._C";
  }
  ~BindAsTorchC() {
    // Not through pybind11: a destructor must not throw.
    if (PyObject_SetAttrString(module_.ptr(), "__name__", name_.ptr()) < 0) {
      PyErr_Clear();
    }
  }
  BindAsTorchC(const BindAsTorchC&) = delete;
  BindAsTorchC& operator=(const BindAsTorchC&) = delete;

 private:
  py::module_ module_;
  py::object name_;
};

// Takes the submodules of `module` out of `sys.modules`, where def_submodule
// puts them.
void forget_submodules(const py::module_& module) {
  py::dict loaded = py::module_::import("sys").attr("modules");
  for (const auto& item : module.attr("__dict__").cast<py::dict>()) {
    if (PyModule_Check(item.second.ptr())) {
      loaded.attr("pop")(item.second.attr("__name__"), py::none());
    }
  }
}

void bind_all(const py::module_& module) {
  PyObject* m = module.ptr();
  if (PyModule_AddFunctions(m, THCPModule_methods()) < 0) {
    throw py::error_already_set();
  }
  torch::cuda::initModule(m);
  THCPStream_init(m);
  THCPEvent_init(m);
  THCPGraph_init(m);
  THCPMemPool_init(m);
}

void add_flags(const py::module_& module) {
  // Asked of a local object: the hooks that libtorch_cpu keeps are not CUDA's
  // yet at this point, see hooks.h.
  const at::cuda::detail::CUDAHooks hooks{at::CUDAHooksArgs{}};
  module.attr("_has_cuda") = py::bool_(true);
  module.attr("_has_magma") = py::bool_(hooks.hasMAGMA());
  // As in a CUDA build, where these follow from what was compiled in.
  module.attr("_has_cudnn") = py::bool_(py::hasattr(module, "_cudnn"));
  module.attr("_has_cusparselt") =
      py::bool_(py::hasattr(module, "_cusparselt"));
}

} // namespace

void bind_upstream(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  try {
    BindAsTorchC renamed(m);
    bind_all(m);
    add_flags(m);
  } catch (...) {
    // The pending Python error, if there is one, has to survive the clean-up.
    py::error_scope pending;
    forget_submodules(m);
    throw;
  }
}

} // namespace torch_cuda
