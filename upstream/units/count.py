"""Counts the translation units of PyTorch's own, monolithic CUDA build.

Lists come from the source tree's `build_variables.bzl`; where upstream's CMake files glob, the same
globs are used. What the build fetches from
third parties (oneDNN, gloo, protobuf, NCCL …) is not counted.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable

from decouple.lists import starlark
from decouple.tree import Tree

_ATEN = "aten/src/ATen"

# upstream's globs in aten/src/ATen/CMakeLists.txt and c10/CMakeLists.txt
_C10 = ("*.cpp", "core/*.cpp", "core/impl/*.cpp", "mobile/*.cpp", "macros/*.cpp", "util/*.cpp")
_CPU = (
    "*.cpp",
    "core/**/*.cpp",
    "cpu/*.cpp",
    "detail/*.cpp",
    "functorch/*.cpp",
    "mkl/*.cpp",
    "mkldnn/*.cpp",
    "native/*.cpp",
    "native/ao_sparse/*.cpp",
    "native/ao_sparse/cpu/*.cpp",
    "native/ao_sparse/quantized/*.cpp",
    "native/ao_sparse/quantized/cpu/*.cpp",
    "native/mkl/*.cpp",
    "native/mkldnn/*.cpp",
    "native/nested/*.cpp",
    "native/quantized/*.cpp",
    "native/quantized/cpu/*.cpp",
    "native/sparse/*.cpp",
    "native/transformers/*.cpp",
    "native/utils/*.cpp",
    "native/xnnpack/*.cpp",
)
# Compiled once for each of the three sets of x86 instructions.
_CPU_KERNELS = ("native/cpu/*.cpp", "native/quantized/cpu/kernels/*.cpp")
_CPU_CAPABILITIES = 3
_CUDA = (
    "cuda/*.cpp",
    "cuda/*.cu",
    "cuda/detail/*.cpp",
    "cuda/detail/*.cu",
    "cuda/nvrtc_stub/*.cpp",
    "cuda/tunable/*.cpp",
    "cuda/tunable/*.cu",
    "cudnn/*.cpp",
    "native/cuda/*.cpp",
    "native/cuda/*.cu",
    "native/cuda/linalg/*.cpp",
    "native/cudnn/*.cpp",
    "native/miopen/*.cpp",
    "native/nested/cuda/*.cpp",
    "native/nested/cuda/*.cu",
    "native/quantized/cuda/*.cpp",
    "native/quantized/cuda/*.cu",
    "native/quantized/cudnn/*.cpp",
    "native/sparse/cuda/*.cpp",
    "native/sparse/cuda/*.cu",
    "native/transformers/cuda/*.cpp",
    "native/transformers/cuda/*.cu",
    "native/transformers/cuda/flash_attn/*.cpp",
    "native/transformers/cuda/flash_attn/*.cu",
    "native/transformers/cuda/flash_attn/kernels/*.cu",
    "native/transformers/cuda/mem_eff_attention/*.cpp",
    "native/transformers/cuda/mem_eff_attention/*.cu",
    "native/transformers/cuda/mem_eff_attention/kernels/*.cu",
)
# What torchgen writes for CUDA: five registrations and one ufunc.
_CUDA_GENERATED = 6


@dataclasses.dataclass(frozen=True)
class Units:
    """Translation units by the library they are linked into.

    Attributes:
        c10: libc10.
        torch_cpu: libtorch_cpu.
        torch_python: libtorch_python, its CUDA half included.
        c10_cuda: libc10_cuda.
        torch_cuda: libtorch_cuda and what is split off it.
    """

    c10: int
    torch_cpu: int
    torch_python: int
    c10_cuda: int
    torch_cuda: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.c10 + self.torch_cpu + self.torch_python + self.c10_cuda + self.torch_cuda


def _globbed(folder: pathlib.Path, patterns: Iterable[str]) -> int:
    found = {path for pattern in patterns for path in folder.glob(pattern)}
    return len([path for path in found if not path.stem.endswith("_test")])


def count(tree: pathlib.Path) -> Units:
    """Counts the units of a source tree.

    Args:
        tree: PyTorch's source.

    Returns:
        The counts.

    Raises:
        DecoupleError: the folder is no PyTorch source tree.
    """
    lists = starlark.evaluate(Tree(tree), "build_variables.bzl")
    aten = tree / _ATEN
    generated = lists["aten_cpu_source_codegen_list"] + lists["aten_native_source_codegen_list"]
    return Units(
        c10=_globbed(tree / "c10", _C10),
        torch_cpu=len(set(lists["libtorch_sources"]("{}")))
        + len(set(generated))
        + _globbed(aten, _CPU)
        + _globbed(aten, _CPU_KERNELS) * _CPU_CAPABILITIES,
        torch_python=len(
            {*lists["glob_libtorch_python_sources"]("{}"), *lists["libtorch_python_cuda_sources"]}
        ),
        c10_cuda=_globbed(tree / "c10/cuda", ("*.cpp", "impl/*.cpp")),
        torch_cuda=len(set(lists["libtorch_cuda_sources"]))
        + _globbed(aten, _CUDA)
        + _CUDA_GENERATED,
    )
