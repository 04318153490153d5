// CUDA half of torch/csrc/tensor/python_tensor.cpp: torch.cuda.FloatTensor and
// its siblings, also as the default tensor type.
//
// A CPU build has these types too, but their constructor refuses to run, since
// utils/cuda_enabled.h is compiled to `false` there.
#include "python/csrc/intra_file/sites.h"

#include <cstddef>
#include <type_traits>
#include <unordered_map>

#include <c10/core/DispatchKey.h>
#include <c10/util/Exception.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/tensor_new.h>

namespace torch_cuda::intra_file {
namespace {

struct TensorKind {
  c10::DispatchKey dispatch_key;
  c10::ScalarType scalar_type;
};

// What each CUDA tensor type makes. The types live as long as the process.
std::unordered_map<PyObject*, TensorKind> cuda_tensor_types;

PyCFunction original_set_default = nullptr;

// The beginning of the object behind such a type, which torch declares in a
// .cpp file. `fits` finds out whether it is laid out this way in this torch.
struct TensorTypeLayout {
  PyTypeObject type;
  PyObject* dtype;
  PyObject* layout;
  bool is_cuda;
  bool is_xpu;
  char name[64];
};
static_assert(std::is_standard_layout_v<TensorTypeLayout>);

// The type's name is stored in the object itself, so the name's address shows
// where the fields are.
bool fits(const TensorTypeLayout& type) {
  return type.type.tp_name == type.name && type.is_cuda && !type.is_xpu;
}

PyObject* cuda_tensor_new(
    PyTypeObject* type,
    PyObject* args,
    PyObject* kwargs) {
  HANDLE_TH_ERRORS
  const TensorKind& kind =
      cuda_tensor_types.at(reinterpret_cast<PyObject*>(type));
  TORCH_WARN_ONCE(
      "The torch.cuda.*DtypeTensor constructors are no longer recommended. "
      "It's best to use methods such as torch.tensor(data, dtype=*, "
      "device='cuda') to create tensors.")
  return THPVariable_Wrap(torch::utils::legacy_tensor_ctor(
      kind.dispatch_key, kind.scalar_type, args, kwargs));
  END_HANDLE_TH_ERRORS
}

// The default's backend is kept inside libtorch_python, and only the original
// function can set it. It refuses a type that says it is CUDA's, so the type
// does not say so while it runs.
PyObject* set_default_tensor_type(PyObject* module, PyObject* type) {
  if (cuda_tensor_types.count(type) == 0) {
    return original_set_default(module, type);
  }
  auto* layout = reinterpret_cast<TensorTypeLayout*>(type);
  layout->is_cuda = false;
  PyObject* result = original_set_default(module, type);
  layout->is_cuda = true;
  return result;
}

} // namespace

void init_legacy_tensor_types(py::module_& torch_c, Swaps& swaps) {
  for (py::handle type : py::module_::import("torch").attr("_tensor_classes")) {
    if (!type.attr("is_cuda").cast<bool>()) {
      continue;
    }
    TORCH_CHECK(
        fits(*reinterpret_cast<const TensorTypeLayout*>(type.ptr())),
        "torch_cuda: torch's tensor type ",
        std::string(py::str(type)),
        " is laid out in a way that torch_cuda does not know. "
        "Install the torch version that torch_cuda was built for.");
    py::object dtype = type.attr("dtype");
    cuda_tensor_types[type.ptr()] = {
        type.attr("is_sparse").cast<bool>() ? c10::DispatchKey::SparseCUDA
                                            : c10::DispatchKey::CUDA,
        reinterpret_cast<THPDtype*>(dtype.ptr())->scalar_type};
    swaps.constructor(type, cuda_tensor_new);
  }
  original_set_default = swaps.function(
      torch_c, "_set_default_tensor_type", METH_O, set_default_tensor_type);
}

} // namespace torch_cuda::intra_file
