"""Puts the devices into ``torch.utils.cpp_extension``: what happens to that module when it is imported.

Upstream's functions stay upstream's. They only learn where the plugin's libraries and headers are.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from torch_cuda._plan import Plan
from torch_cuda.utils.cpp_extension import cuda, cuda_architectures
from torch_cuda.utils.cpp_extension.build import BuildExtension
from torch_cuda.utils.cpp_extension.description import without_repetition
from torch_cuda.utils.cpp_extension.device import NewDeviceCppExtension


def extend(module: ModuleType) -> None:
    """Extends upstream's module, in a process in which the plugin is active.

    Args:
      module: ``torch.utils.cpp_extension``; nothing happens if it is extended already.
    """
    names = vars(module)
    if names["CUDAExtension"] is cuda.CUDAExtension:
        return
    plan = Plan()
    replacements: dict[str, Any] = {
        "NewDeviceCppExtension": NewDeviceCppExtension,
        "CUDAExtension": cuda.CUDAExtension,
        "CppExtension": _with_link_flags(module.CppExtension),
        "BuildExtension": BuildExtension,
        "include_paths": _with_paths(module.include_paths, cuda.include_paths),
        "library_paths": _with_paths(module.library_paths, cuda.library_paths),
        "load": _with_libraries(module.load),
        "load_inline": _with_libraries(module.load_inline),
        # Upstream's fails for a torch that has kernels as PTX only, and where no GPU is visible.
        "_get_cuda_arch_flags": cuda_architectures.architecture_flags,
        "__all__": [*module.__all__, "NewDeviceCppExtension"],
    }
    if module.CUDA_HOME is None:
        # It was imported before the plugin was active, and has not looked.
        replacements["CUDA_HOME"] = module._find_cuda_home()
    for name, value in replacements.items():
        plan.set_item(names, name, value)
    plan.apply()


def _with_paths(
    original: Callable[..., list[str]], ours: Callable[[], list[str]]
) -> Callable[..., list[str]]:
    """Adds our paths to what upstream's function returns for "cuda"."""

    @functools.wraps(original)
    def paths(device_type: str = "cpu") -> list[str]:
        found = original(device_type)
        return without_repetition([*found, *ours()]) if device_type == "cuda" else found

    return paths


def _with_link_flags(original: Callable[..., Any]) -> Callable[..., Any]:
    """Adds our libraries to the link flags of upstream's `CppExtension`."""

    @functools.wraps(original)
    def cpp_extension(*args: Any, **kwargs: Any) -> Any:
        extension = original(*args, **kwargs)
        extension.extra_link_args += cuda.link_flags_of_cpp_extensions()
        return extension

    return cpp_extension


def _with_libraries(original: Callable[..., Any]) -> Callable[..., Any]:
    """Adds our libraries to the link flags of upstream's `load` and `load_inline`."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def load(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        arguments = bound.arguments
        folder = cuda.library_folder()
        # Upstream names the libraries where it sees CUDA, and leaves out the folder.
        ours = [f"-L{folder}"] if _needs_cuda(arguments) else cuda.link_flags_of_cpp_extensions()
        if arguments.get("is_standalone"):
            # A program of its own finds no library that Python has loaded.
            ours.append(f"-Wl,-rpath,{folder}")
        arguments["extra_ldflags"] = [*(arguments.get("extra_ldflags") or ()), *ours]
        return original(*bound.args, **bound.kwargs)

    return load


def _needs_cuda(arguments: dict[str, Any]) -> bool:
    """Whether a call of `load` or `load_inline` links CUDA's libraries."""
    chosen = arguments.get("with_cuda")
    if chosen is not None:
        return bool(chosen)
    sources: str | Sequence[str] = arguments.get("sources") or ()
    listed = [sources] if isinstance(sources, str | os.PathLike) else sources
    return bool(arguments.get("cuda_sources")) or any(
        str(source).endswith(cuda.SUFFIXES) for source in listed
    )
