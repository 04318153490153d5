"""Lets C++ extensions with CUDA sources be built for the platform, by `torch.utils.cpp_extension`'s names."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.delegates import copied, delegate
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.sources import extension
from torch_cuda_adapter.sources.rules import Rules

Function = Callable[..., Any]


def change(platform: Platform, module: ModuleType, journal: Journal) -> None:
    """Lets `CUDAExtension`, `BuildExtension`, `load` and `load_inline` build for the platform.

    Args:
        platform: the platform.
        module: `torch.utils.cpp_extension`.
        journal: puts everything back.
    """
    targets: dict[str, Function] = {
        "CUDAExtension": _cuda_extension(platform),
        "load": _load(platform, copied(module.load)),
        "load_inline": _load_inline(platform, copied(module.load_inline)),
        "include_paths": _with_folders(
            copied(module.include_paths), lambda: extension.header_folders(platform)
        ),
        "library_paths": _with_folders(
            copied(module.library_paths), lambda: extension.library_folders(platform)
        ),
    }
    # CUDAExtension says what is missing, if it is called.
    with contextlib.suppress(AdapterError):
        targets["BuildExtension"] = extension.build_extension()
    for name, target in targets.items():
        original = getattr(module, name)
        journal.set_attribute(module, name, target)
        delegate(original, target, journal)
    home = extension.toolkit_folder(platform)
    # Path's own fails where it may not look.
    if os.path.isdir(home):  # noqa: PTH112
        journal.set_attribute(module, "CUDA_HOME", home)


def _cuda_extension(platform: Platform) -> Function:
    def CUDAExtension(name: str, sources: Sequence[str], *args: Any, **options: Any) -> Any:
        """An extension with CUDA sources, translated for the platform."""
        return extension.cuda_extension(platform)(name, sources, *args, **options)

    return CUDAExtension


def _load(platform: Platform, original: Function) -> Function:
    def load(
        name: str,
        sources: str | Sequence[str],
        extra_cflags: Sequence[str] | None = None,
        extra_cuda_cflags: Sequence[str] | None = None,
        extra_ldflags: Sequence[str] | None = None,
        extra_include_paths: Sequence[str] | None = None,
        build_directory: str | None = None,
        verbose: bool = False,
        with_cuda: bool | None = None,
        is_python_module: bool = True,
        is_standalone: bool = False,
        keep_intermediates: bool = True,
    ) -> Any:
        """Builds and loads an extension: CUDA sources are translated for the platform."""
        listed = [sources] if isinstance(sources, str) else list(sources)
        if with_cuda is None:
            with_cuda = any(
                pathlib.Path(source).suffix in extension.CUDA_SUFFIXES for source in listed
            )
        if is_standalone or not with_cuda:
            return original(
                name,
                sources,
                extra_cflags=extra_cflags,
                extra_ldflags=extra_ldflags,
                extra_include_paths=extra_include_paths,
                build_directory=build_directory,
                verbose=verbose,
                with_cuda=False,
                is_python_module=is_python_module,
                is_standalone=is_standalone,
                keep_intermediates=keep_intermediates,
            )
        headers = list(extra_include_paths or ())
        return extension.describe(platform, headers).load(
            name,
            listed,
            extra_cflags=list(extra_cflags or ()),
            extra_device_flags=extension.device_flags(extra_cuda_cflags or (), Rules(platform)),
            extra_ldflags=extension.link_flags(extra_ldflags or (), platform),
            extra_include_paths=headers,
            build_directory=build_directory,
            verbose=verbose,
            is_python_module=is_python_module,
        )

    return load


def _load_inline(platform: Platform, original: Function) -> Function:
    def load_inline(
        name: str,
        cpp_sources: str | Sequence[str],
        cuda_sources: str | Sequence[str] | None = None,
        functions: Any = None,
        extra_cflags: Sequence[str] | None = None,
        extra_cuda_cflags: Sequence[str] | None = None,
        extra_ldflags: Sequence[str] | None = None,
        extra_include_paths: Sequence[str] | None = None,
        build_directory: str | None = None,
        verbose: bool = False,
        with_cuda: bool | None = None,
        is_python_module: bool = True,
        **options: Any,
    ) -> Any:
        """Builds and loads an extension given as text: CUDA sources are translated for the platform."""
        if not cuda_sources and not with_cuda:
            return original(
                name,
                cpp_sources,
                functions=functions,
                extra_cflags=extra_cflags,
                extra_ldflags=extra_ldflags,
                extra_include_paths=extra_include_paths,
                build_directory=build_directory,
                verbose=verbose,
                is_python_module=is_python_module,
                **options,
            )
        headers = list(extra_include_paths or ())
        return extension.describe(platform, headers).load_inline(
            name,
            cpp_sources,
            cuda_sources or (),
            functions=functions or (),
            extra_cflags=list(extra_cflags or ()),
            extra_device_flags=extension.device_flags(extra_cuda_cflags or (), Rules(platform)),
            extra_ldflags=extension.link_flags(extra_ldflags or (), platform),
            extra_include_paths=headers,
            build_directory=build_directory,
            verbose=verbose,
            is_python_module=is_python_module,
        )

    return load_inline


def _with_folders(original: Function, folders: Callable[[], list[str]]) -> Function:
    """`include_paths` and `library_paths`, which take `device_type`, or in older versions `cuda`."""

    def paths(
        device_type: str | bool = "cpu", *args: Any, cuda: bool = False, **options: Any
    ) -> Any:
        found = original(*args, **options)
        wanted = cuda or device_type is True or device_type == "cuda"
        return [*found, *folders()] if wanted else found

    return paths
