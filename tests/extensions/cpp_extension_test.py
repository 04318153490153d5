"""Extensions that do not name CUDA: they may call PyTorch's CUDA functions, or have nothing to do with them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import torch
from absl.testing import absltest
from torch.utils import cpp_extension

_SOURCES = pathlib.Path(__file__).parent / "sources"
_SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
setup(
    name="from_setup",
    ext_modules=[CppExtension("from_setup", ["cuda_functions.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
"""


class CppExtensionTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def needed(self, library: str) -> str:
        done = subprocess.run(
            ["readelf", "--dynamic", library], capture_output=True, text=True, check=True
        )
        return done.stdout

    def test_what_is_used_of_libtorch_cuda_is_found(self) -> None:
        module = cpp_extension.load(
            "cuda_functions",
            [str(_SOURCES / "cuda_functions.cpp")],
            build_directory=str(self.folder),
        )
        torch.ones(3, device="cuda")
        self.assertIn(b"segments", module.memory_snapshot())

    def test_and_in_a_setup_py(self) -> None:
        (self.folder / "setup.py").write_text(_SETUP, encoding="utf-8")
        source = _SOURCES / "cuda_functions.cpp"
        (self.folder / source.name).write_bytes(source.read_bytes())
        # Bazel keeps the current folder off Python's path (PYTHONSAFEPATH).
        path = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        for command in (
            ["setup.py", "-q", "build_ext", "--inplace"],
            ["-c", "import torch, from_setup; print(len(from_setup.memory_snapshot()) > 0)"],
        ):
            done = subprocess.run(
                [sys.executable, *command],
                cwd=self.folder,
                # After Python's own flags, -g -O2, which take half of the compiler's time.
                env={**os.environ, "CFLAGS": "-g0 -O0", "PYTHONPATH": os.pathsep.join(path)},
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "True\n")

    def test_an_extension_without_cuda_does_not_need_it(self) -> None:
        module = cpp_extension.load(
            "no_cuda", [str(_SOURCES / "no_cuda.cpp")], build_directory=str(self.folder)
        )
        self.assertEqual(module.answer(), 42)
        self.assertNotIn("cuda", self.needed(module.__file__).replace("no_cuda", ""))


if __name__ == "__main__":
    absltest.main()
