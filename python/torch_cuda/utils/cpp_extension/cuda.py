"""CUDA, described as a device: nvcc, its flags, CUDA's libraries and those of torch_cuda.

`CUDAExtension` is that description. It takes what upstream's function of this name takes and adds
where the plugin's libraries and headers are, which a CPU torch does not have beside its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import torch.utils.cpp_extension as upstream

from torch_cuda import _build
from torch_cuda.utils.cpp_extension import cuda_architectures, nvcc
from torch_cuda.utils.cpp_extension.description import DEPENDENCY_FILE, without_repetition
from torch_cuda.utils.cpp_extension.device import NewDeviceCppExtension

SUFFIXES = (".cu", ".cuh")

# Upstream's own, also after ours have taken their places there.
_upstream_include_paths: Callable[[str], list[str]] = getattr(
    upstream.include_paths, "__wrapped__", upstream.include_paths
)
_upstream_library_paths: Callable[[str], list[str]] = getattr(
    upstream.library_paths, "__wrapped__", upstream.library_paths
)


def library_folder() -> str:
    """The folder of libtorch_cuda.so and libc10_cuda.so."""
    return str(_build.package_folder() / "lib")


def header_folder() -> str:
    """The folder of the headers that a CPU build of PyTorch does not configure.

    They are ``c10/cuda/impl/cuda_cmake_macros.h`` and ``ATen/cuda/CUDAConfig.h``. The other CUDA headers
    of PyTorch are part of a CPU torch.
    """
    return str(_build.package_folder() / "include")


def include_paths() -> list[str]:
    """torch's headers, CUDA's, and the plugin's.

    Raises:
      OSError: no CUDA toolkit is found; the text is upstream's.
    """
    return without_repetition([*_upstream_include_paths("cuda"), header_folder()])


def library_paths() -> list[str]:
    """The folders of torch's libraries, the plugin's, and CUDA's.

    Raises:
      OSError: no CUDA toolkit is found; the text is upstream's.
    """
    # Before CUDA's, which may be a folder of the whole system.
    return without_repetition([library_folder(), *_upstream_library_paths("cuda")])


def link_flags_of_cpp_extensions() -> list[str]:
    """Flags for extensions that do not name CUDA, and may call PyTorch's CUDA functions all the same.

    In a CUDA build of PyTorch ``-ltorch`` brings these libraries along. Here they are named, and the
    linker takes those that are used.
    """
    return [
        f"-L{library_folder()}",
        "-Wl,--push-state,--as-needed",
        "-lc10_cuda",
        "-ltorch_cuda",
        "-Wl,--pop-state",
    ]


def compile_flags(user_flags: Sequence[str]) -> list[str]:
    """The flags that PyTorch's headers and shared libraries need of nvcc.

    Args:
      user_flags: where they choose architectures, a host compiler or a C++ standard, nothing else
        is chosen here, as nvcc takes each only once.

    Returns:
      The flags.
    """
    flags = [*upstream.COMMON_NVCC_FLAGS, "--compiler-options", "-fPIC"]
    flags += cuda_architectures.architecture_flags(user_flags)
    host_compiler = os.environ.get("CC")
    if host_compiler and not _starts(user_flags, "-ccbin", "--compiler-bindir"):
        flags += ["-ccbin", host_compiler]
    if not _starts(user_flags, "-std=", "--std"):
        flags.append("-std=c++17")
    return flags


def dependency_flags() -> list[str]:
    """nvcc's flags for a dependency file; none where ``TORCH_EXTENSION_SKIP_NVCC_GEN_DEPENDENCIES``
    is 1, as some compiler caches do not know them."""
    if os.environ.get("TORCH_EXTENSION_SKIP_NVCC_GEN_DEPENDENCIES", "0") == "1":
        return []
    return ["--generate-dependencies-with-compile", "--dependency-output", DEPENDENCY_FILE]


def _starts(flags: Sequence[str], *prefixes: str) -> bool:
    return any(flag.startswith(prefixes) for flag in flags)


CUDAExtension = NewDeviceCppExtension(
    name="cuda",
    compiler=nvcc.command,
    suffixes=SUFFIXES,
    compile_flags=compile_flags,
    include_paths=include_paths,
    library_paths=library_paths,
    libraries=("cudart", "c10_cuda", "torch_cuda"),
    flags_key="nvcc",
    dependency_flags=dependency_flags,
    # Not -dlto, which upstream adds: it is of use only to objects that were compiled with it, and a
    # toolkit without the library for it (Debian's) cannot link then.
    device_link_flags=("-dlink",),
    compiler_hint="install the CUDA toolkit and set CUDA_HOME to the folder that holds bin/nvcc",
    inline_includes=("torch/types.h", "cuda.h", "cuda_runtime.h"),
)
"""Describes a CUDA extension for setuptools: `CUDAExtension(name, sources, **options)`."""
