"""A CUDA extension with a kernel is translated, built and run on the stand-in, by way of `NewDeviceCppExtension`.

The stand-in's C API is here a header of a few lines, in which a device is the host.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import sys
import warnings
from unittest import mock

import setuptools  # type: ignore[import-untyped]
from absl.testing import absltest
from torch_cuda.utils.cpp_extension import BuildExtension

from torch_cuda_adapter import platforms
from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.sources import Rules, extension

RUNTIME = """
#pragma once
#include <cstdlib>
#include <cstring>
#define __global__
using standStream_t = void*;
enum standError_t { standSuccess };
enum standMemcpyKind { standMemcpyHostToDevice, standMemcpyDeviceToHost };
struct Place { int x; };
inline thread_local Place blockIdx, threadIdx, blockDim;
inline standError_t standMalloc(void** p, size_t n) { *p = std::malloc(n); return standSuccess; }
inline standError_t standFree(void* p) { std::free(p); return standSuccess; }
inline standError_t standMemcpy(void* to, const void* from, size_t n, standMemcpyKind) {
  std::memcpy(to, from, n);
  return standSuccess;
}
template <typename Kernel, typename... Arguments>
void standLaunch(int grid, int block, size_t, standStream_t, Kernel kernel, Arguments... arguments) {
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x) kernel(arguments...);
}
"""
KERNEL = """
#include <cuda_runtime.h>
#include <lib/scale.cuh>
#ifndef USE_STAND_IN
#error "-DUSE_CUDA is not translated"
#endif
__global__ void add(float* x, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;  // cudaFree
  if (i < n) x[i] = scaled(x[i]) + by;
}
extern "C" const char* name() { return "cudaMalloc"; }
extern "C" int run(float* x, int n) {
  float* d;
  if (cudaMalloc((void**)&d, n * sizeof(float)) != cudaSuccess) return 1;
  cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<(n + 31) / 32, 32>>>(d, n, 1.f);
  cudaMemcpy(x, d, n * sizeof(float), cudaMemcpyDeviceToHost);
  return cudaFree(d) != cudaSuccess;
}
"""
SCALE = "#pragma once\ninline float scaled(float x) { return 2 * x; }\n"


class ExtensionTest(absltest.TestCase):
    def test_linker_flags_name_the_platforms_libraries(self) -> None:
        flags = ["-lnvjpeg", "-L/cuda", "-l:libnvjpeg.a", "-Wl,-rpath,/x", "-lm", "-lcudart"]
        self.assertEqual(
            extension.link_flags(flags, platforms.load("stand-in")),
            [
                *("-lstandjpeg", "-lstand_in", "-L/cuda", "-l:libnvjpeg.a"),
                *("-Wl,-rpath,/x", "-lm", "-lstand_in"),
            ],
        )

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(
            mock.patch.dict(os.environ, {"TORCH_CUDA_ADAPTER_CACHE": str(self.folder / "cache")})
        )
        for name, text in {
            "device/stand_runtime.h": RUNTIME,
            "csrc/kernel.cu": KERNEL,
            "include/lib/scale.cuh": SCALE,
        }.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.platform = platforms.load("stand-in")
        self.changes = {
            "include_paths": [str(self.folder / "device")],
            "library_paths": [],
            "libraries": [],
        }

    def built(self, described: setuptools.Extension) -> pathlib.Path:
        """The library of an extension, built as a setup.py does."""
        distribution = setuptools.Distribution({"name": "test", "ext_modules": [described]})
        command = BuildExtension(distribution, no_python_abi_suffix=True)
        command.build_lib = str(self.folder / "build")
        command.build_temp = str(self.folder / "temporary")
        command.ensure_finalized()
        command.run()
        return self.folder / "build" / f"{described.name}.so"

    def test_a_kernel(self) -> None:
        make = extension.cuda_extension(self.platform, **self.changes)
        described = make(
            "scaled_add",
            [str(self.folder / "csrc" / "kernel.cu")],
            include_dirs=[str(self.folder / "include")],
            extra_compile_args={"nvcc": ["-O2", "--use_fast_math", "-DUSE_CUDA"]},
        )
        library = ctypes.CDLL(str(self.built(described)))
        values = (ctypes.c_float * 40)(*range(40))
        self.assertEqual(library.run(values, 40), 0)
        self.assertSequenceEqual(list(values), [2.0 * i + 1 for i in range(40)])
        library.name.restype = ctypes.c_char_p
        self.assertEqual(library.name(), b"cudaMalloc")

    def test_libraries_and_what_is_left_over(self) -> None:
        make = extension.cuda_extension(self.platform, **self.changes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            described = make(
                "x",
                [str(self.folder / "csrc" / "kernel.cu")],
                libraries=["cudart", "m"],
                extra_compile_args={"nvcc": ["-Xptxas=-v"], "cxx": ["-O1"]},
            )
        self.assertEqual(described.libraries[:2], ["stand_in", "m"])
        messages = [str(w.message) for w in caught if w.category is extension.TranslationWarning]
        self.assertLen(messages, 1)
        self.assertIn(
            "flags for stand-in: left as they were:\n  -Xptxas=-v: there is no ptxas", messages[0]
        )

    def test_what_sources_leave_over_is_a_warning(self) -> None:
        source = self.folder / "csrc" / "kernel.cu"
        source.write_text("cublasCreate(&h);\n" * 30, encoding="utf-8")
        translate = extension.translator(Rules(self.platform))
        with self.assertWarnsRegex(
            extension.TranslationWarning, "kernel.cu:1:1: unsupported.*\n"
        ) as caught:
            (target,) = translate([source], self.folder / "out")
        self.assertIn("and 10 more", str(caught.warning))
        self.assertEqual(target.suffix, ".stand")

    def test_a_backend_that_is_not_there(self) -> None:
        device = extension.describe(self.platform)
        with self.assertRaisesRegex(
            AdapterError, "found no torch_stand_in, the backend of stand-in"
        ):
            device("x", [str(self.folder / "csrc" / "kernel.cu")])

    def test_importing_it_imports_no_torch(self) -> None:
        code = (
            "import sys; import torch_cuda_adapter.sources.extension; "
            "sys.exit('torch' in sys.modules or 'torch_cuda' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
            timeout=60,
        )
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    absltest.main()
