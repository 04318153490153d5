// CUDA half of torch/csrc/inductor/aoti_runner/pybind.cpp: the class that runs
// a CUDA model compiled ahead of time, torch._C._aoti.
// AOTIModelContainerRunnerCuda.
//
// The class itself, and its entry in the registry from which
// AOTIModelPackageLoader takes a model's runner, are upstream's
// model_container_runner_cuda.cpp, which is part of libtorch_cuda.
#include "python/csrc/intra_file/sites.h"

#include <string>
#include <unordered_map>

#include <torch/csrc/inductor/aoti_runner/model_container_runner_cuda.h>

namespace torch_cuda::intra_file {
namespace {

using Runner = torch::inductor::AOTIModelContainerRunnerCuda;
using ConstantMap = std::unordered_map<std::string, at::Tensor>;

constexpr const char* kName = "AOTIModelContainerRunnerCuda";

// Binds the class in a scope of its own and returns it. pybind11 knows a C++
// class once per process, so a second call returns the first one's.
py::object runner_class() {
  static py::handle bound;
  if (!bound) {
    auto scope =
        py::module_::import("types").attr("ModuleType")("torch._C._aoti");
    py::class_<Runner> runner(scope, kName);
    runner
        // (model_so_path, num_models)
        .def(py::init<const std::string&, int>())
        // (…, device), such as "cuda:0"
        .def(py::init<const std::string&, int, const std::string&>())
        // (…, folder of the compiled kernels)
        .def(py::init<
             const std::string&,
             int,
             const std::string&,
             const std::string&>())
        .def(
            "run",
            &Runner::run,
            py::arg("inputs"),
            py::arg("stream_handle") = nullptr)
        .def("get_call_spec", &Runner::get_call_spec)
        .def(
            "get_constant_names_to_original_fqns",
            &Runner::getConstantNamesToOriginalFQNs)
        .def("get_constant_names_to_dtypes", &Runner::getConstantNamesToDtypes)
        .def(
            "update_constant_buffer",
            py::overload_cast<ConstantMap&, bool, bool>(
                &Runner::update_constant_buffer));
    bound = runner.release();
  }
  return py::reinterpret_borrow<py::object>(bound);
}

} // namespace

void init_aoti_runner(py::module_& torch_c, Swaps& swaps) {
  swaps.attribute(torch_c.attr("_aoti"), kName, runner_class());
}

} // namespace torch_cuda::intra_file
