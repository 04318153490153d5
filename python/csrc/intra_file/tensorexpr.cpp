// CUDA half of torch/csrc/jit/tensorexpr/tensorexpr_init.cpp:
// torch._C._te.construct_codegen("cuda", ...).
//
// The code generator is upstream's cuda_codegen.cpp, which is part of
// libtorch_cuda and enters itself where the fuser looks for it.
#include "python/csrc/intra_file/sites.h"

#include <memory>
#include <string>
#include <vector>

#include <pybind11/stl.h>
#include <torch/csrc/jit/tensorexpr/codegen.h>
#include <torch/csrc/jit/tensorexpr/cuda_codegen.h>

namespace torch_cuda::intra_file {
namespace {

namespace te = torch::jit::tensorexpr;

constexpr const char* kName = "construct_codegen";

} // namespace

void init_tensorexpr(py::module_& torch_c, Swaps& swaps) {
  py::object bindings = torch_c.attr("_te");
  py::object original = bindings.attr(kName);
  swaps.attribute(
      bindings,
      kName,
      py::cpp_function(
          [original](
              const std::string& name,
              const te::StmtPtr& stmt,
              const std::vector<te::CodeGen::BufferArg>& args) -> py::object {
            if (name != "cuda") {
              return original(name, stmt, args);
            }
            // Python knows the base class only.
            std::unique_ptr<te::CodeGen> codegen =
                std::make_unique<te::CudaCodeGen>(stmt, args);
            return py::cast(
                codegen.release(), py::return_value_policy::take_ownership);
          },
          py::name(kName),
          py::scope(bindings)));
}

} // namespace torch_cuda::intra_file
