"""What is said to those who describe a device or an extension wrongly, or lack a compiler."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from unittest import mock

from absl.testing import absltest, parameterized
from torch_cuda.utils.cpp_extension import NewDeviceCppExtension


def describe(**changes: object) -> NewDeviceCppExtension:
    description: dict[str, object] = {
        "name": "xpu1",
        "compiler": ["g++", "-x", "c++"],
        "suffixes": (".xpp",),
        "compile_flags": ["-fPIC"],
    }
    return NewDeviceCppExtension(**{**description, **changes})  # type: ignore[arg-type]


class DescriptionTest(parameterized.TestCase):
    @parameterized.parameters(
        ({"name": "my device"}, "found 'my device' as the name of a device"),
        (
            {"compiler": "g++ -x c++"},
            "found compiler 'g\\+\\+ -x c\\+\\+'; needed the command as a list",
        ),
        ({"compiler": []}, "found compiler \\[\\]"),
        ({"suffixes": ".xpp"}, "found suffixes '.xpp'; needed a tuple"),
        ({"suffixes": ()}, "needed a tuple of at least one"),
        ({"suffixes": ("xpp",)}, "found the suffix 'xpp'; needed one that starts with a dot"),
        ({"suffixes": (".cpp",)}, "found the suffix '.cpp'; .* not the host compiler's"),
        ({"flags_key": "cxx"}, "found the flags key 'cxx'"),
    )
    def test_wrong_description(self, changes: dict[str, object], message: str) -> None:
        with self.assertRaisesRegex(ValueError, message):
            describe(**changes)


class ExtensionTest(absltest.TestCase):
    def test_sources_are_a_list(self) -> None:
        with self.assertRaisesRegex(
            TypeError, r"found sources='a.xpp'; needed a list, \['a.xpp'\]"
        ):
            describe().extension("name", "a.xpp")

    def test_flags_for_a_compiler_that_is_not_there_are_reported(self) -> None:
        with self.assertWarnsRegex(UserWarning, r"\['nvcc'\] is for no compiler of device xpu1"):
            describe().extension("name", ["a.xpp"], extra_compile_args={"nvcc": ["-O3"]})

    def test_linking_device_code_needs_a_device_that_can(self) -> None:
        with self.assertRaisesRegex(ValueError, "device xpu1 has no step that links device code"):
            describe().extension("name", ["a.xpp"], dlink=True)


class LoadTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def write(self, name: str, text: str = "") -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def load(self, device: NewDeviceCppExtension, *sources: str) -> None:
        device.load("wrong", sources, build_directory=self.folder / "build")

    def test_source_of_no_compiler(self) -> None:
        with self.assertRaisesRegex(
            ValueError, r"found the source '.*a\.foo'; needed sources that end in \.xpp"
        ):
            self.load(describe(), self.write("a.xpp"), self.write("a.foo"))

    def test_source_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, r"found no source .*none\.xpp"):
            self.load(describe(), str(self.folder / "none.xpp"))

    def test_no_sources(self) -> None:
        with self.assertRaisesRegex(ValueError, "found no sources; needed at least one"):
            self.load(describe())

    def test_compiler_that_is_not_there(self) -> None:
        device = describe(compiler=["xcc-of-nowhere"], compiler_hint="apt install xcc")
        with self.assertRaisesRegex(
            FileNotFoundError,
            "found no compiler 'xcc-of-nowhere' for device xpu1; needed for sources that end in "
            "\\.xpp. To fix it: apt install xcc",
        ):
            self.load(device, self.write("a.xpp"))

    def test_error_in_the_source_is_shown_as_the_compiler_says_it(self) -> None:
        with self.assertRaisesRegex(
            RuntimeError,
            r"(?s)Error compiling objects for extension wrong: .*a\.xpp:2:.*missing_name",
        ):
            self.load(describe(), self.write("a.xpp", "\nint value = missing_name;\n"))

    def test_toolkit_that_does_not_fit(self) -> None:
        def check() -> None:
            raise RuntimeError("found xcc 1.0; needed xcc 2.0")

        with self.assertRaisesRegex(RuntimeError, "found xcc 1.0; needed xcc 2.0"):
            self.load(describe(check=check), self.write("a.xpp"))

    def test_translator_that_loses_a_source(self) -> None:
        device = describe(translate=lambda sources, folder: sources[:1])
        with self.assertRaisesRegex(RuntimeError, "found 1 files from the translator .* 2 sources"):
            self.load(device, self.write("a.xpp"), self.write("b.xpp"))

    def test_no_ninja(self) -> None:
        with (
            mock.patch.dict(os.environ, {"PATH": str(self.folder)}),
            self.assertRaisesRegex(RuntimeError, "Ninja is required"),
        ):
            self.load(describe(), self.write("a.xpp"))


_LOAD_CUDA = """
import torch
from torch.utils import cpp_extension
try:
    cpp_extension.{call}
except Exception as error:
    print(type(error).__name__, error)
"""
_INLINE = "load_inline('wrong', '', '__global__ void kernel() {}', functions=[])"


class CudaTest(absltest.TestCase):
    def message(self, call: str, environ: Mapping[str, str]) -> str:
        """What the call raises in a process with these environment variables."""
        folder = self.create_tempdir().full_path
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _LOAD_CUDA.format(call=call)],
            env={**os.environ, "TORCH_EXTENSIONS_DIR": folder, **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def without_cuda(self) -> dict[str, str]:
        """A PATH with the host's compiler and ninja, and without nvcc."""
        tools = pathlib.Path(self.create_tempdir().full_path)
        for tool in ("c++", "ninja", "sh", "ld", "as"):
            found = shutil.which(tool)
            if found:
                (tools / tool).symlink_to(found)
        return {"PATH": str(tools)}

    def test_no_toolkit(self) -> None:
        environ = self.without_cuda()
        for call in ("CUDAExtension('wrong', ['a.cu'])", _INLINE, f"CUDAExtension.{_INLINE}"):
            with self.subTest(call):
                self.assertStartsWith(
                    self.message(call, environ),
                    "OSError CUDA_HOME environment variable is not set. Please set it",
                )

    def test_toolkit_folder_without_nvcc(self) -> None:
        empty = self.create_tempdir().full_path
        message = self.message(f"CUDAExtension.{_INLINE}", {"CUDA_HOME": empty})
        self.assertIn(f"found no compiler '{empty}/bin/nvcc' for device cuda", message)
        self.assertIn("set CUDA_HOME to the folder that holds bin/nvcc", message)

    def test_toolkit_of_another_major_version(self) -> None:
        home = pathlib.Path(self.create_tempdir().full_path)
        (home / "bin").mkdir()
        nvcc = home / "bin" / "nvcc"
        nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 11.8'\n")
        nvcc.chmod(0o755)
        message = self.message(f"CUDAExtension.{_INLINE}", {"CUDA_HOME": str(home)})
        self.assertIn("The detected CUDA version (11.8) mismatches", message)

    def test_unknown_architecture(self) -> None:
        for call in (_INLINE, f"CUDAExtension.{_INLINE}"):
            with self.subTest(call):
                message = self.message(call, {"TORCH_CUDA_ARCH_LIST": "8.0;nine"})
                self.assertStartsWith(message, "ValueError Unknown CUDA arch (nine)")


if __name__ == "__main__":
    absltest.main()
