"""Tests of the wheel's libraries: a closed link, and nothing of the machine that built them."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import sys
import sysconfig

from absl.testing import absltest, parameterized

from tests.wheel import elf

SITE = pathlib.Path(os.environ["TORCH_CUDA_TEST_SITE"])
PACKAGE = SITE / "torch_cuda"
LIBRARIES = {path.name: path for path in sorted(PACKAGE.rglob("*.so"))}
NAMES = [(name.split(".")[0], name) for name in LIBRARIES]

# Linked by the extension ecosystem under these names.
PROMISED = ("libc10_cuda.so", "libtorch_cuda.so")

ALLOWED = [
    re.compile(pattern)
    for pattern in (
        # Our own; stock torch, whose sonames carry a version in some distributions; C and C++.
        r"libc10_cuda\.so|libtorch_cuda(_linalg|_operators)?\.so|libcaffe2_nvrtc\.so",
        r"lib(c10|torch|torch_cpu|torch_python|shm)\.so(\.[0-9.]+)?",
        r"lib(c|m|dl|rt|pthread)\.so\.[0-9]|libstdc\+\+\.so\.6|libgcc_s\.so\.1|libgomp\.so\.1",
        r"ld-linux-[a-z0-9_-]+\.so\.[0-9]",
        # The CUDA toolkit. NCCL and CUPTI belong to the plugins.
        r"lib(cudart|cublas|cublasLt|cusparse|nvJitLink|nvrtc)\.so\.12",
        r"libcufft\.so\.11|libcurand\.so\.10|libcusolver\.so\.11|libcudnn\.so\.9|libnvToolsExt\.so\.1",
    )
]


def _finder() -> elf.Finder:
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None, "no torch to link against"
    torch_package = pathlib.Path(spec.origin).parent
    nvidia = (torch_package.parent / "nvidia").glob("*/lib")
    return elf.Finder([PACKAGE / "lib", torch_package / "lib", *nvidia])


def _interpreter() -> frozenset[str]:
    """Symbols that the interpreter offers to extension modules, wherever its build keeps them."""
    symbols = elf.read(pathlib.Path(sys.executable).resolve()).defined
    shared = pathlib.Path(sysconfig.get_config_var("LIBDIR") or "/") / (
        sysconfig.get_config_var("LDLIBRARY") or ""
    )
    if shared.suffix == ".so" and shared.exists():
        symbols |= elf.read(shared.resolve()).defined
    return symbols


class LinkTest(parameterized.TestCase):
    def test_promised_libraries_are_there(self) -> None:
        self.assertContainsSubset(PROMISED, LIBRARIES)
        extension = f"_CUDAC{sysconfig.get_config_var('EXT_SUFFIX')}"
        self.assertIn(extension, LIBRARIES)

    @parameterized.named_parameters(*NAMES)
    def test_every_symbol_is_defined_by_a_needed_library(self, name: str) -> None:
        library = elf.read(LIBRARIES[name])
        self.assertEqual(_finder().unresolved(library, _interpreter()), [])

    @parameterized.named_parameters(*NAMES)
    def test_only_allowed_libraries_are_needed(self, name: str) -> None:
        allowed = list(ALLOWED)
        if name == "libcaffe2_nvrtc.so":
            # Opened when a kernel is compiled at run time, so the driver is there by then.
            allowed.append(re.compile(r"libcuda\.so\.1"))
        self.assertEqual(elf.faults_of_needed(elf.read(LIBRARIES[name]), allowed), [])

    @parameterized.named_parameters(*NAMES)
    def test_nccl_and_cupti_are_not_called(self, name: str) -> None:
        undefined = elf.read(LIBRARIES[name]).undefined
        called = [symbol for symbol in undefined if symbol.startswith(("nccl", "cupti"))]
        self.assertEmpty(called)

    @parameterized.named_parameters(*NAMES)
    def test_run_path_starts_at_the_library(self, name: str) -> None:
        library = elf.read(LIBRARIES[name])
        self.assertEqual(elf.faults_of_run_path(library), [])
        ours = {soname for soname in library.needed if soname in LIBRARIES}
        if ours:
            self.assertNotEmpty(library.run_path, f"{name} could not find {sorted(ours)}")

    @parameterized.named_parameters(*NAMES)
    def test_code_is_shared_and_stack_is_data(self, name: str) -> None:
        library = elf.read(LIBRARIES[name])
        self.assertFalse(library.text_relocations)
        self.assertFalse(library.executable_stack)

    @parameterized.named_parameters(
        *((label, name) for label, name in NAMES if name.startswith("lib"))
    )
    def test_soname_is_the_file_name(self, name: str) -> None:
        self.assertEqual(elf.read(LIBRARIES[name]).soname, name)


if __name__ == "__main__":
    absltest.main()
