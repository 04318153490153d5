"""Kinds of change that a release of PyTorch makes to its source tree, each made to a copy of the real one.

A change either leaves a tree that builds, or names what the build has to say about it.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

ATEN = "aten/src/ATen"
KERNELS = f"{ATEN}/native/cuda"
FUNCTIONS = f"{ATEN}/native/native_functions.yaml"


@dataclasses.dataclass(frozen=True)
class Change:
    """One change.

    Attributes:
        name: what is done.
        apply: does it to the tree of a given root.
        says: regular expressions, each of which some line of the build's output matches.
        builds: whether the build succeeds.
    """

    name: str
    apply: Callable[[Path], None]
    says: tuple[str, ...] = ()
    builds: bool = False


def copy(source: Path, destination: Path) -> None:
    """Makes a view of a source tree, anew: folders of its own, with symbolic links to the files."""
    shutil.rmtree(destination, ignore_errors=True)
    for folder, _, names in os.walk(source):
        here = destination / Path(folder).relative_to(source)
        here.mkdir(parents=True)
        for name in names:
            (here / name).symlink_to(Path(folder, name))


def write(path: Path, text: str) -> None:
    """Writes a file of the view, without following its link."""
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


def substitute(path: Path, pattern: str, replacement: str) -> None:
    """Replaces what a pattern finds in a file of the view; it has to be there."""
    text, count = re.subn(
        pattern, replacement, path.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    if not count:
        raise ValueError(f"{path.name} has nothing that {pattern!r} finds: choose another example")
    write(path, text)


def _rename_kernel_file(tree: Path) -> None:
    (tree / KERNELS / "AbsKernel.cu").rename(tree / KERNELS / "AbsoluteKernel.cu")


def _split_kernel_file(tree: Path) -> None:
    path = tree / KERNELS / "UnarySignKernels.cu"
    text = path.read_text(encoding="utf-8")
    registration = "REGISTER_DISPATCH(sgn_stub, &sgn_kernel_cuda)"
    if registration not in text:
        raise ValueError("UnarySignKernels.cu no longer registers sgn_stub: choose another example")
    write(path, text.replace(registration, ""))
    write(
        tree / KERNELS / "UnarySgnKernel.cu", text.split("namespace at::native")[0] + registration
    )


def _merge_kernel_files(tree: Path) -> None:
    floor, trunc = (tree / KERNELS / f"BinaryDiv{kind}Kernel.cu" for kind in ("Floor", "Trunc"))
    write(floor, floor.read_text(encoding="utf-8") + trunc.read_text(encoding="utf-8"))
    trunc.unlink()


def _add_kernel_file(tree: Path) -> None:
    write(tree / KERNELS / "BrandNewKernel.cu", "namespace at::native {}\n")


def _remove_kernel_file(tree: Path) -> None:
    (tree / KERNELS / "Lerp.cu").unlink()


def _remove_kernel_file_outside_core(tree: Path) -> None:
    (tree / KERNELS / "airy_ai.cu").unlink()


def _add_operator(tree: Path) -> None:
    path = tree / FUNCTIONS
    text = path.read_text(encoding="utf-8")
    write(
        path,
        text + "\n- func: fresh(Tensor self) -> Tensor\n  dispatch:\n    CPU, CUDA: fresh\n",
    )


def _rename_operator(tree: Path) -> None:
    substitute(tree / FUNCTIONS, r"\bbincount\b", "bin_count")


def _rename_half_of_an_operator(tree: Path) -> None:
    substitute(tree / FUNCTIONS, r"^- func: lerp\.Scalar\(", "- func: linterp.Scalar(")


def _give_operator_another_kernel(tree: Path) -> None:
    substitute(tree / FUNCTIONS, r"CUDA: _bincount_cuda$", "CUDA: _bincount_on_device")


def _rename_cmake_group(tree: Path) -> None:
    substitute(tree / ATEN / "CMakeLists.txt", r"\bnative_cuda_cu\b", "native_cuda_device_cu")


def _rename_list(tree: Path) -> None:
    substitute(
        tree / "build_variables.bzl",
        r"\blibtorch_cuda_core_sources\b",
        "libtorch_cuda_base_sources",
    )


def _break_list(tree: Path) -> None:
    substitute(
        tree / "build_variables.bzl",
        r"^libtorch_cuda_core_sources = \[",
        "libtorch_cuda_core_sources = [[",
    )


def _raise_version(tree: Path) -> None:
    write(tree / "version.txt", "2.6.1a0\n")


CHANGES = (
    Change(
        "a kernel file is renamed",
        _rename_kernel_file,
        (
            r"AbsKernel\.cu, which is no kernel file of this PyTorch.*near: .*AbsoluteKernel\.cu",
            r"abs_stub has no CUDA kernel; add .native/cuda/AbsoluteKernel\.cu. to kernels",
        ),
    ),
    Change(
        "a kernel file is split",
        _split_kernel_file,
        (r"sgn_stub has no CUDA kernel; add .native/cuda/UnarySgnKernel\.cu. to kernels",),
    ),
    Change(
        "two kernel files are merged",
        _merge_kernel_files,
        (r"BinaryDivTruncKernel\.cu, which is no kernel file of this PyTorch; remove it",),
    ),
    Change(
        "a kernel file is added",
        _add_kernel_file,
        (r"native/cuda/BrandNewKernel\.cu is in no profile but full",),
        builds=True,
    ),
    Change(
        "a kernel file that core needs is removed",
        _remove_kernel_file,
        (r"Lerp\.cu, which is no kernel file of this PyTorch; remove it",),
    ),
    Change(
        "a kernel file that core leaves out is removed",
        _remove_kernel_file_outside_core,
        builds=True,
    ),
    Change("an operator is added", _add_operator, builds=True),
    Change(
        "an operator is renamed",
        _rename_operator,
        (r"no operator of this PyTorch matches 'bincount'; near: .*bin_count",),
    ),
    Change(
        "half of an operator is renamed",
        _rename_half_of_an_operator,
        (r"^torchgen cannot read .*native_functions\.yaml",),
    ),
    Change(
        "an operator is given a kernel that is nowhere",
        _give_operator_another_kernel,
        (r"bincount: no source defines its CUDA kernel _bincount_on_device",),
    ),
    Change(
        "a group of CMake's lists is renamed",
        _rename_cmake_group,
        (r"no longer has the group native_cuda_cu\. It has: .*native_cuda_device_cu",),
    ),
    Change(
        "a list of build_variables.bzl is renamed",
        _rename_list,
        (r"does not contain symbol 'libtorch_cuda_core_sources'.*libtorch_cuda_base_sources",),
    ),
    Change(
        "a list of build_variables.bzl is broken",
        _break_list,
        (r"build_variables\.bzl:\d+",),
    ),
    Change(
        "the version is another one",
        _raise_version,
        (
            r"@pytorch is version 2\.6\.1 .*tested with 2\.6\.0.*docs/porting\.md",
            r"torch 2\.6\.0\S* is installed .*CUDA sources in @pytorch are 2\.6\.1",
        ),
    ),
)
