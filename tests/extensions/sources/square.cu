// Squares numbers without torch's headers, which is quick to compile. An
// extension module; its host half is square_of_host.cpp.

#include <Python.h>
#include <cuda_runtime.h>

int square_of_host(int value);

namespace {

__global__ void square_kernel(int* values, int size) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < size) {
    values[index] *= values[index] * SIGN;
  }
}

// (address, size): squares `size` ints at a device address.
PyObject* square(PyObject*, PyObject* arguments) {
  unsigned long long address = 0;
  int size = 0;
  if (!PyArg_ParseTuple(arguments, "Ki", &address, &size)) {
    return nullptr;
  }
  square_kernel<<<(size + 31) / 32, 32>>>(
      reinterpret_cast<int*>(address), size);
  return PyLong_FromLong(cudaGetLastError());
}

PyObject* host_square(PyObject*, PyObject* argument) {
  return PyLong_FromLong(square_of_host(PyLong_AsLong(argument)));
}

PyMethodDef methods[] = {
    {"square", square, METH_VARARGS, nullptr},
    {"host_square", host_square, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "square",
    nullptr,
    -1,
    methods,
    nullptr,
    nullptr,
    nullptr,
    nullptr};

} // namespace

#define CONCATENATED(a, b) a##b
#define INIT_FUNCTION(name) CONCATENATED(PyInit_, name)

PyMODINIT_FUNC INIT_FUNCTION(TORCH_EXTENSION_NAME)() {
  return PyModule_Create(&module);
}
