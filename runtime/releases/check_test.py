"""The check of a release, of wheels and a router that are made here."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from absl.testing import absltest

from runtime.releases import check, wheel_test
from tools.remote_wheel import fetch, index

_VERSIONS = """
STOCK_TORCH = {
    "2.12": struct(cuda = 13, version = "2.12.1"),
    "2.15": struct(cuda = 13, version = "2.15.0"),
}
"""
_PACKAGES = 'PACKAGES = {"nvidia-cuda-runtime==13.2.86": "0", "nvidia-cufft==12.0.0": "0"}\n'
_NEW = """
- func: fresh(Tensor self) -> Tensor
  dispatch:
    CUDA: fresh_cuda
"""
_YAML = "torchgen/packaged/ATen/native/native_functions.yaml"


class CheckTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = pathlib.Path(self.create_tempdir().full_path)
        self.write("third_party/stock_torch/versions.bzl", _VERSIONS)
        self.write("third_party/cuda13/packages.bzl", _PACKAGES)
        self.write("router/operators/a.cpp", "#include <c10/core/Device.h>\nint a = kCount;\n")
        self.write("router/aliasing/b.cpp", "#include <cuda_runtime_api.h>\nint b;\n")
        header = {"torch/include/c10/core/Device.h": "constexpr int kCount = 1;\n"}
        cuda = {"nvidia/cu13/include/cuda_runtime_api.h": "// CUDA's\n"}
        self.wheels = {
            "torch==2.15.0": wheel_test.FILES | header,
            "torch==2.14.1": wheel_test.FILES | header,
            "nvidia-cuda-runtime==13.2.86": cuda,
        }

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def said(self, well: bool) -> str:
        @contextlib.contextmanager
        def remote(wanted: Any) -> Iterator[Any]:
            yield "a wheel", wheel_test.wheel(self.wheels[wanted.requirement])

        said = io.StringIO()
        with mock.patch.object(fetch, "remote", remote), contextlib.redirect_stdout(said):
            self.assertEqual(check.check("2.14.1", self.root, "3.13", None), well, said.getvalue())
        return said.getvalue()

    def test_nothing_breaks(self) -> None:
        said = self.said(True)
        self.assertIn("torch:       2.14.1+cu130, CUDA 13.0, c++20; compared with 2.15.0", said)
        self.assertIn("0 of 4 differ, 0 of c10 and ATen/core; the same ABI", said)
        self.assertIn("5, 0 new and 0 gone; 1 have a kernel of CUDA's", said)
        self.assertIn("compiles:    all 2 files of the router", said)
        self.assertEndsWith(said, "Nothing breaks.\n")

    def test_a_file_that_does_not_compile(self) -> None:
        self.wheels["torch==2.14.1"] |= {"torch/include/c10/core/Device.h": "// nothing\n"}
        said = self.said(False)
        self.assertIn("1 of 4 differ, 1 of c10 and ATen/core; an ABI of its own", said)
        self.assertIn("compiles:    BREAKS: 1 of 2 files of the router do not compile:", said)
        self.assertIn("   router/operators/a.cpp: 'kCount' was not declared", said)
        self.assertEndsWith(said, "Something breaks.\n")

    def test_a_new_operator(self) -> None:
        self.wheels["torch==2.14.1"] |= {_YAML: wheel_test.FILES[_YAML] + _NEW}
        said = self.said(True)
        self.assertIn(
            "6, 1 new and 0 gone; 2 have a kernel of CUDA's and none of the CPU's, 1 of", said
        )
        self.assertRegex(said, r"\n +fresh\n")

    def test_another_cuda(self) -> None:
        text = wheel_test.FILES["torch/version.py"].replace("13.0", "14.0")
        self.wheels["torch==2.14.1"] |= {"torch/version.py": text}
        self.assertIn("BREAKS: no libraries for CUDA 14", self.said(False))

    def test_the_nearest_version(self) -> None:
        minors = ["2.9", "2.12", "2.15"]
        for version, nearest in {
            "2.9.0": "2.9",
            "2.10.0": "2.9",
            "2.13.0": "2.12",
            "2.14.1": "2.15",
            "3.0.0": "2.15",
        }.items():
            self.assertEqual(check.nearest(version, minors), nearest)

    def test_a_version_that_is_not_there(self) -> None:
        error = io.StringIO()
        failing = mock.patch.object(fetch, "remote", side_effect=index.NotFoundError("none"))
        root = mock.patch.dict(os.environ, {"BUILD_WORKSPACE_DIRECTORY": str(self.root)})
        with failing, root, contextlib.redirect_stderr(error):
            self.assertEqual(check.main(["2.99.0"]), 2)
        self.assertIn("torch==2.99.0: none", error.getvalue())


if __name__ == "__main__":
    absltest.main()
