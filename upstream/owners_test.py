"""The packages of this repository, as owners.bzl assigns them.

Argument: owners.bzl.
"""

from __future__ import annotations

import pathlib
import sys

from absl.testing import absltest

from decouple.plan import owners

OWNERS = owners.read(pathlib.Path(sys.argv.pop(1)))


class OwnersTest(absltest.TestCase):
    def test_blas_is_apart_from_the_rest_of_the_core(self) -> None:
        self.assertEqual(OWNERS.package_of("aten/src/ATen/cuda/CUDABlas.cpp"), "aten_cuda/blas")
        self.assertEqual(OWNERS.package_of("aten/src/ATen/cuda/CUDAContext.cpp"), "aten_cuda/core")

    def test_bindings_are_known_by_their_lists(self) -> None:
        path, lists = "torch/csrc/cuda/Module.cpp", ["libtorch_python_cuda_core_sources"]
        self.assertEqual(OWNERS.package_of(path, lists), "python/csrc")
        self.assertEqual(OWNERS.package_of(path), "framework")

    def test_files_that_are_not_of_pytorch_have_no_package(self) -> None:
        self.assertEqual(OWNERS.package_of("third_party/x.cu"), "")

    def test_cut_lines_are_of_the_package_that_supplies_them(self) -> None:
        for path, package in (
            ("torch/csrc/Storage.cpp", "python/csrc"),
            ("torch/csrc/distributed/c10d/init.cpp", "distributed"),
            ("torch/csrc/inductor/resize_storage_bytes.cpp", "framework"),
        ):
            self.assertEqual(OWNERS.cut_package_of(path), package)

    def test_each_package_is_in_a_layer(self) -> None:
        self.assertEqual(OWNERS.layer_of("aten_cuda/blas"), "aten_cuda")
        self.assertEqual(OWNERS.layer_of("python/csrc"), "python/csrc")
        self.assertEqual(OWNERS.layer_of("python/torch_cuda"), "python")

    def test_layers_depend_on_layers_that_are_there(self) -> None:
        for below in OWNERS.layers.values():
            self.assertContainsSubset(below, OWNERS.layers.keys())


if __name__ == "__main__":
    absltest.main()
