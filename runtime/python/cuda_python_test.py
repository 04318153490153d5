"""cuda-bindings gets libcudart's functions: held against a package of that shape, whose library is libm."""

from __future__ import annotations

import ctypes
import importlib
import pathlib
import sys
import textwrap
from unittest import mock

from absl.testing import absltest, parameterized
from torch_cuda_runtime import _cuda_python, _hook, _libraries

# `before` is what a capsule has at first.
_MODULE = """
    import ctypes

    def capsule():
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(4096, None, None)

    __pyx_capi__ = {"_cos": capsule(), "sin": capsule(), "_cudaOfAnotherVersion": capsule()}
"""


def _pointers(module: object) -> dict[str, int]:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return {name: get(content, None) for name, content in module.__pyx_capi__.items()}  # type: ignore[attr-defined]


class CudaPythonTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(sys, "path", [str(self.site), *sys.path]))
        self.enter_context(mock.patch.object(sys, "meta_path", list(sys.meta_path)))
        self.enter_context(mock.patch.dict(sys.modules))
        self.enter_context(mock.patch.dict("os.environ", TORCH_CUDA_DEVICES="fake"))
        self.libm = ctypes.CDLL("libm.so.6")
        loaded = pathlib.Path("/proc/self/maps").read_text().split()
        (self.site / "libcudart.so.13").symlink_to(
            next(path for path in loaded if path.endswith("/libm.so.6"))
        )
        self.enter_context(mock.patch.object(_libraries, "folders", self._folders))

    def _folders(self, major: int) -> list[pathlib.Path]:
        return [self.site] if major == 13 else []

    def _package(self, version: str, module: str) -> None:
        path = self.site / "cuda" / "bindings" / (module.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True)
        path.write_text(textwrap.dedent(_MODULE), encoding="utf-8")
        (self.site / "cuda" / "bindings" / "__init__.py").write_text(f"__version__ = {version!r}\n")

    def _address(self, name: str) -> int | None:
        return ctypes.cast(getattr(self.libm, name), ctypes.c_void_p).value

    @parameterized.parameters(
        ("13.5.0", "_internal.runtime"),
        ("13.3.1", "_bindings.cyruntime"),
        ("13.3.1", "_bindings.cyruntime_ptds"),
    )
    def test_its_runtime_is_libcudart(self, version: str, module: str) -> None:
        self._package(version, module)
        _hook.install()
        found = importlib.import_module(f"cuda.bindings.{module}")
        self.assertEqual(
            _pointers(found),
            {
                "_cos": self._address("cos"),
                "sin": self._address("sin"),
                "_cudaOfAnotherVersion": 4096,
            },
        )

    def test_that_of_another_cuda_stays(self) -> None:
        self._package("12.9.1", "_bindings.cyruntime")
        _hook.install()
        found = importlib.import_module("cuda.bindings._bindings.cyruntime")
        self.assertEqual(set(_pointers(found).values()), {4096})

    def test_without_a_device_it_stays(self) -> None:
        self._package("13.5.0", "_internal.runtime")
        with mock.patch.dict("os.environ", TORCH_CUDA_DEVICES=""):
            _hook.install()
        found = importlib.import_module("cuda.bindings._internal.runtime")
        self.assertEqual(set(_pointers(found).values()), {4096})

    def test_a_thread_has_its_own_default_stream(self) -> None:
        self.assertEqual(_cuda_python.names("_cudaMemcpy", False), ["cudaMemcpy"])
        self.assertEqual(
            _cuda_python.names("_cudaMemcpy", True),
            ["cudaMemcpy_ptds", "cudaMemcpy_ptsz", "cudaMemcpy"],
        )


if __name__ == "__main__":
    absltest.main()
