"""Operators of a library that comes after CUDA was first used, and whose kernels are machine code alone.

    TORCH_CUDA_DEVICES=fake python tests/stock/late_test.py

Needs g++. The library comes by ctypes and behind Python's back: by dlopen, called from C.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import torch

# A fat binary without PTX, and a kernel that nobody can run.
_SOURCE = """
#include <torch/library.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <c10/util/Exception.h>
struct Dim { unsigned x, y, z; };
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
int cudaLaunchKernel(const void*, Dim, Dim, void**, std::size_t, void*);
}
namespace {
struct { unsigned magic; unsigned short version, header; unsigned long long size; }
    fat_binary = {0xBA55ED50, 1, 16, 0};
struct { int magic, version; const void* data; void* more; }
    wrapper = {0x466243b1, 1, &fat_binary, nullptr};
void stub() {}
__attribute__((constructor(101))) void announce() {
  void** handle = __cudaRegisterFatBinary(&wrapper);
  char name[] = "twice";
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&stub), name, "twice", -1,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);
}
at::Tensor on_cpu(const at::Tensor& x) { return at::mul(x, 2); }
at::Tensor on_cuda(const at::Tensor& x) {
  auto out = at::empty_like(x);
  const int error = cudaLaunchKernel(reinterpret_cast<const void*>(&stub), {1, 1, 1}, {1, 1, 1},
                                     nullptr, 0, nullptr);
  TORCH_CHECK(error == 0, "the launch failed with error ", error);
  return out;
}
}
// torch 2.9 takes the name as it is written.
#define LIBRARY_OF(name, library) TORCH_LIBRARY(name, library)
LIBRARY_OF(NAME, library) { library.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(NAME, CPU, library) { library.impl("twice", &on_cpu); }
TORCH_LIBRARY_IMPL(NAME, CUDA, library) { library.impl("twice", &on_cuda); }
"""


def compile_library(folder: pathlib.Path, name: str) -> str:
    """Compiles the library with operators of a name, as an extension's build does.

    Args:
        folder: where to.
        name: of its operators' namespace.
    """
    package = pathlib.Path(torch.__file__).parent
    extension = (package / "utils" / "cpp_extension.py").read_text(encoding="utf-8")
    standard = max(map(int, re.findall(r"-std=c\+\+(\d+)", extension)))
    library = folder / f"{name}.so"
    subprocess.run(
        [
            os.environ.get("CXX", "g++"),
            f"-std=c++{standard}",
            "-O0",
            "-w",
            "-fPIC",
            "-shared",
            f"-DNAME={name}",
            "-DAT_PER_OPERATOR_HEADERS",
            f"-isystem{package}/include",
            "-x",
            "c++",
            "-",
            f"-L{package}/lib",
            "-lc10",
            "-ltorch_cpu",
            "-o",
            str(library),
        ],
        input=_SOURCE,
        text=True,
        check=True,
    )
    return str(library)


class LateTest(unittest.TestCase):
    """What an operator gives that was not there when CUDA was first used."""

    def setUp(self) -> None:
        self.x = torch.linspace(-1, 1, 5, device="cuda")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, operator: object) -> None:
        """Holds the operator against the CPU."""
        result = operator(self.x)  # type: ignore[operator]
        torch.cuda.synchronize()
        torch.testing.assert_close(result.cpu(), self.x.cpu() * 2)

    def test_by_ctypes(self) -> None:
        ctypes.CDLL(compile_library(self.folder, "by_ctypes"))
        self.check(torch.ops.by_ctypes.twice)

    def test_behind_pythons_back(self) -> None:
        library = compile_library(self.folder, "by_dlopen")
        dlopen = ctypes.CDLL(None).dlopen
        dlopen.argtypes = [ctypes.c_char_p, ctypes.c_int]
        dlopen.restype = ctypes.c_void_p
        self.assertIsNotNone(dlopen(library.encode(), os.RTLD_NOW))
        self.check(torch.ops.by_dlopen.twice)


if __name__ == "__main__":
    unittest.main()
