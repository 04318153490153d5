"""A setup.py with `CUDAExtension` and `BuildExtension`, as users have it, with and without ninja."""

from __future__ import annotations

import pathlib
import shutil

import torch
from absl.testing import absltest

from tests.extensions.setup_py import SetupPyTestCase

_SOURCES = pathlib.Path(__file__).parent / "sources"

_SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(
    name="extensions",
    packages=["extensions"],
    ext_modules=[
        CUDAExtension(
            f"extensions.{name}",
            ["square.cu", "square_of_host.cpp"],
            extra_compile_args={"cxx": [f"-DSIGN={sign}"], "nvcc": [f"-DSIGN={sign}", "-O2"]},
        )
        for name, sign in NAMES.items()
    ],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=USE_NINJA)},
)
"""

_USE = """
import sys, torch
from extensions import NAME
numbers = torch.arange(-50, 50, dtype=torch.int32)
on_device = numbers.cuda()
assert NAME.square(on_device.data_ptr(), len(numbers)) == 0
assert (on_device.cpu() == numbers * numbers * SIGN).all()
assert NAME.host_square(4) == 16 * SIGN
print("used")
"""


class SetupPyTest(SetupPyTestCase):
    def setUp(self) -> None:
        super().setUp()
        for name in ("square.cu", "square_of_host.cpp"):
            shutil.copy(_SOURCES / name, self.folder / name)
        (self.folder / "extensions").mkdir()
        (self.folder / "extensions" / "__init__.py").touch()

    def build(self, names: dict[str, int], *options: str, use_ninja: bool = True) -> str:
        text = _SETUP.replace("NAMES", repr(names)).replace("USE_NINJA", repr(use_ninja))
        (self.folder / "setup.py").write_text(text, encoding="utf-8")
        return self.run_python("setup.py", "build_ext", "--inplace", *options)

    def use(self, name: str, sign: int) -> None:
        text = _USE.replace("NAME", name).replace("SIGN", repr(sign))
        self.assertEqual(self.run_python("-c", text), "used\n")

    def test_two_extensions_of_one_source_keep_their_own_flags(self) -> None:
        self.build({"plus": 1, "minus": -1})
        self.use("plus", 1)
        self.use("minus", -1)
        again = self.build({"plus": 1, "minus": -1})
        self.assertEqual(again.count("ninja: no work to do."), 2, again)

    def test_extensions_are_built_in_threads(self) -> None:
        self.build({"plus": 1, "minus": -1}, "--parallel=2")
        self.use("plus", 1)
        self.use("minus", -1)

    def test_it_builds_without_ninja(self) -> None:
        self.build({"plus": 1}, use_ninja=False)
        self.use("plus", 1)

    def test_the_library_is_linked_with_the_plugin_s(self) -> None:
        from torch.utils.cpp_extension import CUDAExtension

        extension = CUDAExtension("name", ["square.cu"])
        self.assertContainsSubset(["cudart", "c10_cuda", "torch_cuda"], extension.libraries)
        found = [
            folder
            for folder in extension.library_dirs
            if (pathlib.Path(folder) / "libtorch_cuda.so").is_file()
        ]
        self.assertLen(found, 1)
        self.assertNotEqual(found[0], str(pathlib.Path(torch.__file__).parent / "lib"))


if __name__ == "__main__":
    absltest.main()
