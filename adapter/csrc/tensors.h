// Tensor.is_cuda and Tensor.cuda for the foreign device.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

namespace torch_cuda_adapter {

// The descriptors for torch.Tensor.
//
// Args:
//   torch: the module torch.
// Returns a new tuple of `is_cuda` and `cuda`, or null with an exception.
PyObject* tensor_descriptors(PyObject* torch);

} // namespace torch_cuda_adapter
