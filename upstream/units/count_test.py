"""Tests of count.py on a source tree of a few files."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple import testing
from decouple.errors import DecoupleError
from upstream.units import count as upstream_units

LISTS = """
libtorch_cuda_sources = ["torch/csrc/cuda/comm.cpp"]
libtorch_python_cuda_sources = ["torch/csrc/cuda/Module.cpp"]
aten_cpu_source_codegen_list = ["RegisterCPU.cpp"]
aten_native_source_codegen_list = ["RegisterMeta.cpp"]

def libtorch_sources(pattern):
    return [pattern.format("a.cpp"), "b.cpp"]

def glob_libtorch_python_sources(pattern):
    return ["p.cpp", "torch/csrc/cuda/Module.cpp"]
"""


class UpstreamUnitsTest(absltest.TestCase):
    def test_lists_globs_and_repeated_kernels_are_counted(self) -> None:
        tree = pathlib.Path(self.create_tempdir().full_path)
        names = (
            "c10/core/Device.cpp",
            "c10/cuda/CUDAStream.cpp",
            "aten/src/ATen/Context.cpp",
            "aten/src/ATen/core/boxing/KernelFunction.cpp",
            "aten/src/ATen/core/boxing/KernelFunction_test.cpp",
            "aten/src/ATen/native/cpu/AddKernel.cpp",
            "aten/src/ATen/native/cuda/Add.cu",
            "aten/src/ATen/native/cuda/Add.cuh",
            "aten/src/ATen/native/vulkan/Add.cpp",
        )
        testing.make_tree(tree, {"build_variables.bzl": LISTS, **dict.fromkeys(names, "")})
        units = upstream_units.count(tree)
        self.assertEqual(
            units,
            # c10_cuda: one of the minimal tree's besides; torch_cpu: 2 listed, 2 generated, 2 globbed, 1 kernel three times;
            # torch_cuda: 1 listed, 1 globbed, 6 generated.
            upstream_units.Units(c10=1, torch_cpu=9, torch_python=2, c10_cuda=2, torch_cuda=8),
        )
        self.assertEqual(units.total, 22)

    def test_other_folder_is_refused(self) -> None:
        with self.assertRaises(DecoupleError):
            upstream_units.count(pathlib.Path(self.create_tempdir().full_path))


if __name__ == "__main__":
    absltest.main()
