"""An extension whose kernel calls a device function of another source (`dlink=True`)."""

from __future__ import annotations

from absl.testing import absltest

from tests.extensions.setup_py import SetupPyTestCase

_SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(
    name="linked",
    ext_modules=[
        CUDAExtension(
            "linked",
            ["kernel.cu", "product.cu"],
            dlink=True,
            extra_compile_args={"cxx": [], "nvcc": ["-rdc=true"]},
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
"""

# The function and the variable are another source's; `offset` is in both, and each has its own.
_KERNEL = """
#include <Python.h>
#include <cuda_runtime.h>

extern __device__ int factor;
__device__ int product(int value);
static __device__ int offset = 1;

__global__ void multiply(int* values, int size) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < size) {
    values[index] = product(values[index]) + offset + 1000 * factor;
  }
}

static PyObject* run(PyObject*, PyObject* arguments) {
  unsigned long long address = 0;
  int size = 0;
  if (!PyArg_ParseTuple(arguments, "Ki", &address, &size)) {
    return nullptr;
  }
  multiply<<<(size + 31) / 32, 32>>>(reinterpret_cast<int*>(address), size);
  return PyLong_FromLong(cudaGetLastError());
}

static PyMethodDef methods[] = {
    {"run", run, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "linked", nullptr, -1, methods};

PyMODINIT_FUNC PyInit_linked() {
  return PyModule_Create(&module);
}
"""

_PRODUCT = """
static __device__ int offset = 30;
__device__ int factor = 7;
__device__ int product(int value) {
  return value * factor + offset;
}
"""

_USE = """
import torch, linked
numbers = torch.arange(100, dtype=torch.int32)
on_device = numbers.cuda()
assert linked.run(on_device.data_ptr(), len(numbers)) == 0
assert (on_device.cpu() == numbers * 7 + 30 + 1 + 7000).all(), on_device
print("used")
"""


class DeviceLinkTest(SetupPyTestCase):
    def test_device_code_of_two_sources_is_one(self) -> None:
        for name, text in (
            ("setup.py", _SETUP),
            ("kernel.cu", _KERNEL),
            ("product.cu", _PRODUCT),
        ):
            (self.folder / name).write_text(text, encoding="utf-8")
        self.run_python("setup.py", "build_ext", "--inplace")
        self.assertEqual(self.run_python("-c", _USE), "used\n")


if __name__ == "__main__":
    absltest.main()
