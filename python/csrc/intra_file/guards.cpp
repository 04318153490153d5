// CUDA half of torch/csrc/dynamo/guards.cpp: the fast allocation that code made
// by torch.compile calls, torch._C._dynamo.guards._empty_strided_cuda.
#include "python/csrc/intra_file/sites.h"

#include <ATen/core/Tensor.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

namespace torch_cuda::intra_file {
namespace {

using Dims = c10::SmallVector<int64_t, 8>;

// Reads a tuple of sizes or strides, each at least 0.
Dims unpack_dims(PyObject* obj) {
  TORCH_CHECK(PyTuple_CheckExact(obj));
  Dims dims;
  const Py_ssize_t count = PyTuple_GET_SIZE(obj);
  dims.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto result = PyLong_AsSsize_t(PyTuple_GET_ITEM(obj, i));
    TORCH_CHECK(result >= 0);
    dims.push_back(result);
  }
  return dims;
}

// args: (sizes, strides, dtype). Called for each buffer of a compiled graph, so
// it reads the tuple by hand.
PyObject* empty_strided_cuda(PyObject* /*module*/, PyObject* args) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(PyTuple_CheckExact(args));
  TORCH_CHECK(PyTuple_GET_SIZE(args) == 3);
  const Dims sizes = unpack_dims(PyTuple_GET_ITEM(args, 0));
  const Dims strides = unpack_dims(PyTuple_GET_ITEM(args, 1));
  PyObject* py_dtype = PyTuple_GET_ITEM(args, 2);
  TORCH_CHECK(THPDtype_Check(py_dtype));
  return THPVariable_Wrap(at::detail::empty_strided_cuda(
      sizes,
      strides,
      reinterpret_cast<THPDtype*>(py_dtype)->scalar_type,
      at::Device(at::kCUDA)));
  END_HANDLE_TH_ERRORS
}

} // namespace

void init_guards(py::module_& torch_c, Swaps& swaps) {
  swaps.function(
      torch_c.attr("_dynamo").attr("guards"),
      "_empty_strided_cuda",
      METH_VARARGS,
      empty_strided_cuda);
}

} // namespace torch_cuda::intra_file
