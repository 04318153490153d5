// What lives here: the extension module `torch_cuda._CUDAC`, also reachable as
// `torch.cuda._CUDAC`. Importing it binds upstream's CUDA functions onto the
// module and changes nothing else; `_torch_cuda_complete` is the second step,
// which torch_cuda/_swap.py takes once everything else is in place.
#include <torch/csrc/python_headers.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/csrc/absent_profiler.h"
#include "python/csrc/bindings.h"
#include "python/csrc/errors.h"
#include "python/csrc/first_use.h"
#include "python/csrc/hooks.h"
#include "python/csrc/intra_file/intra_file.h"

namespace py = pybind11;

namespace torch_cuda {
namespace {

// Refuses a build whose pybind11 keeps its type registry apart from torch's:
// tensors would still pass, but exceptions and classes would not be shared.
void check_pybind11_registry(const py::module_& torch_c) {
  const auto torchs = [&](const char* name) -> std::string {
    py::object value = py::getattr(torch_c, name, py::none());
    return value.is_none() ? std::string() : value.cast<std::string>();
  };
  const std::string found = torchs("_PYBIND11_COMPILER_TYPE") +
      torchs("_PYBIND11_STDLIB") + torchs("_PYBIND11_BUILD_ABI");
  const std::string ours =
      PYBIND11_COMPILER_TYPE PYBIND11_STDLIB PYBIND11_BUILD_ABI;
  if (found != ours) {
    throw std::runtime_error(
        "found a torch whose pybind11 registry is \"" + found +
        "\", needed \"" + ours +
        "\": build torch_cuda with -DPYBIND11_BUILD_ABI (and _COMPILER_TYPE, "
        "_STDLIB) as torch._C._PYBIND11_* say");
  }
}

// The names whose values differ between `before` and `after`, with the new
// values.
py::dict changes(const py::dict& before, const py::dict& after) {
  py::dict result;
  for (const auto& item : after) {
    PyObject* old = PyDict_GetItemWithError(before.ptr(), item.first.ptr());
    if (old == nullptr && PyErr_Occurred()) {
      throw py::error_already_set();
    }
    if (old != item.second.ptr()) {
      result[item.first] = item.second;
    }
  }
  return result;
}

// Gives torch what is not a name on a module: the CUDA hooks, the CUDA half of
// files that stay in the CPU build, and an answer for profilers. Names which
// the second of these puts on `torch_c` become attributes of `self` as well.
void complete(py::module_ self, const py::module_& torch_c) {
  auto names = torch_c.attr("__dict__").cast<py::dict>();
  auto before = names.attr("copy")().cast<py::dict>();
  const bool changed_hooks = install_cuda_hooks();
  try {
    with_python_errors([&] { init_intra_file(torch_c.ptr()); });
    for (const auto& item : changes(before, names)) {
      self.attr(item.first) = item.second;
    }
    install_absent_profiler();
  } catch (...) {
    // The pending Python error, if there is one, has to survive the clean-up.
    py::error_scope pending;
    revert_intra_file();
    if (changed_hooks) {
      remove_cuda_hooks();
    }
    throw;
  }
}

} // namespace
} // namespace torch_cuda

PYBIND11_MODULE(_CUDAC, m) {
  m.doc() = "CUDA bindings of PyTorch, built outside of PyTorch.";
  torch_cuda::with_python_errors([&] {
    torch_cuda::check_pybind11_registry(py::module_::import("torch._C"));
    torch_cuda::bind_upstream(m.ptr());
  });
  m.def(
      "_torch_cuda_complete",
      [m](const py::module_& torch_c) {
        torch_cuda::with_python_errors(
            [&] { torch_cuda::complete(m, torch_c); });
      },
      py::arg("torch_c"),
      "Completes the activation: installs the CUDA hooks and the CUDA half of\n"
      "files that stay in torch's CPU build.\n"
      "\n"
      "torch_c: the module torch._C, on which the names of this module are\n"
      "already set. Raises what the C++ code raised, with everything as it was\n"
      "before the call.");
  m.def(
      "_torch_cuda_route_on_first_use",
      [](std::string library,
         std::vector<std::pair<std::string, std::string>> announced) {
        torch_cuda::route_on_first_use(
            {std::move(library), std::move(announced)});
      },
      py::arg("library"),
      py::arg("announced"),
      "Has operators routed when CUDA is first used, from Python or C++.\n"
      "\n"
      "library: path of libtorch_cuda_operators.so. announced: names of device\n"
      "libraries whose operators are not beside them, with the operators'\n"
      "paths.");
  m.def(
      "_torch_cuda_routed_operators",
      &torch_cuda::routed_operators,
      "How many operators were routed; 0 before the first use of CUDA.");
}
