// CUDA half of torch/csrc/inductor/aoti_eager/kernel_holder.cpp: eager
// operators that AOTInductor compiled
// (torch.library.Library._impl_with_aoti_compile).
//
// Upstream's kernel holder is a class of some 500 lines in which one line is
// CUDA's: which runner it makes. That line sits in a private function that is
// not virtual, so there is no seam around it. The whole unit is compiled once
// more instead, from upstream's own file, with USE_CUDA and under another class
// name, and the one method of torch._C that makes holders is replaced. The one
// function that the unit calls and libtorch_python does not export is in
// aoti_eager_args.cpp.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define AOTIPythonKernelHolder CudaAOTIPythonKernelHolder
#include <torch/csrc/inductor/aoti_eager/kernel_holder.cpp> // NOLINT
#undef AOTIPythonKernelHolder
#pragma GCC diagnostic pop

#include "python/csrc/intra_file/sites.h"

#include <memory>
#include <string>

#include <torch/csrc/PyInterpreter.h>
#include <torch/library.h>

#ifndef USE_CUDA
#error "aoti_eager.cpp must be compiled with -DUSE_CUDA"
#endif

namespace torch_cuda::intra_file {
namespace {

void register_cuda_kernel(
    torch::Library& library,
    const std::string& ns,
    const std::string& op_name_with_overload,
    c10::DispatchKey dispatch_key) {
  auto holder = std::make_unique<torch::inductor::CudaAOTIPythonKernelHolder>(
      dispatch_key, ns, op_name_with_overload);
  library.impl(
      (ns + "::" + op_name_with_overload).c_str(),
      torch::dispatch(
          dispatch_key,
          torch::CppFunction::makeFromBoxedFunctor(std::move(holder))),
      isMainPyInterpreter() ? torch::_RegisterOrVerify::REGISTER
                            : torch::_RegisterOrVerify::VERIFY);
}

} // namespace

void init_aoti_eager(py::module_& torch_c, Swaps& swaps) {
  constexpr const char* kName = "impl_with_aoti_compile";
  py::object library_class = torch_c.attr("_DispatchModule");
  py::object original = library_class.attr(kName);
  swaps.attribute(
      library_class,
      kName,
      py::cpp_function(
          [original](
              const py::object& self,
              const char* ns,
              const char* op_name_with_overload,
              c10::DispatchKey dispatch) {
            HANDLE_TH_ERRORS
            if (c10::toBackendComponent(dispatch) ==
                c10::BackendComponent::CUDABit) {
              register_cuda_kernel(
                  self.cast<torch::Library&>(),
                  ns,
                  op_name_with_overload,
                  dispatch);
            } else {
              original(self, ns, op_name_with_overload, dispatch);
            }
            END_HANDLE_TH_ERRORS_PYBIND
          },
          py::name(kName),
          py::is_method(library_class),
          "",
          py::arg("ns"),
          py::arg("op_name_with_overload"),
          py::arg("dispatch")));
}

} // namespace torch_cuda::intra_file
