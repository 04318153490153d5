"""`load` and `load_inline` of a device: build an extension in a cache folder and import it.

The same setuptools command builds it as a setup.py would, so that both give the same library.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pathlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import setuptools  # type: ignore[import-untyped]
import torch
import torch.utils.cpp_extension as upstream

from torch_cuda.utils.cpp_extension.build import BuildExtension
from torch_cuda.utils.cpp_extension.description import DeviceDescription
from torch_cuda.utils.cpp_extension.extension import describe_extension
from torch_cuda.utils.cpp_extension.run import write_if_changed

FOLDER_VARIABLE = "TORCH_EXTENSIONS_DIR"

# Name of an extension to the digests with which this process has built it, in order. A library that
# is loaded cannot be written again, so each gets a name of its own.
_built: dict[str, list[str]] = {}
_built_lock = threading.Lock()


def load(
    device: DeviceDescription,
    name: str,
    sources: str | Sequence[str],
    *,
    extra_cflags: Sequence[str] = (),
    extra_device_flags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str] = (),
    build_directory: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    is_python_module: bool = True,
) -> Any:
    """Builds an extension and loads it into this process.

    What is up to date is not compiled again. If sources or flags have changed since this process
    loaded the extension, the new one is a module with "_v1", "_v2" and so on after its name.

    Args:
      device: compiles the sources that it owns.
      name: of the extension; what ``TORCH_EXTENSION_NAME`` expands to.
      sources: paths, of the device and of the host.
      extra_cflags: flags for the host compiler.
      extra_device_flags: flags for the device compiler.
      extra_ldflags: flags for the linker.
      extra_include_paths: folders of headers.
      build_directory: where to build; by default a folder of this name and device in
        ``TORCH_EXTENSIONS_DIR``, or in PyTorch's cache folder.
      verbose: show the commands.
      is_python_module: whether the library is a Python module; if not it is loaded for the
        operators that it registers.

    Returns:
      The module; the path of the library if it is not a Python module.

    Raises:
      OSError: a compiler or toolkit is missing.
      FileNotFoundError: a source is missing.
      RuntimeError: ninja is missing, or a compiler or the linker failed; with what it printed.
    """
    upstream.verify_ninja_availability()
    paths = [pathlib.Path(source).absolute() for source in _listed(sources)]
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"extension {name}: found no source {path}; needed a file")
    if not paths:
        raise ValueError(f"extension {name}: found no sources; needed at least one")
    folder = _folder(name, device, build_directory)
    flags: dict[str, Sequence[str]] = {"cxx": extra_cflags, device.key: extra_device_flags}
    arguments = [flags, extra_ldflags, extra_include_paths, str(folder)]
    key, digest = f"{device.name}/{name}", _digest(paths, arguments)
    version, is_new = _version(key, digest)
    versioned = f"{name}_v{version}" if version else name
    library = folder / f"{versioned}.so"
    if not is_new and library.is_file():
        # It may be loaded, so it is not written again.
        return _loaded(versioned, library, is_python_module=is_python_module)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        extension = describe_extension(
            device,
            versioned,
            [str(path) for path in paths],
            extra_compile_args=flags,
            extra_link_args=list(extra_ldflags),
            include_dirs=list(extra_include_paths),
        )
        with _locked(folder / "lock"):
            _build(extension, folder, verbose=verbose)
            return _loaded(versioned, library, is_python_module=is_python_module)
    except BaseException:
        # What was never loaded is no version.
        _forget(key, digest)
        raise


def load_inline(
    device: DeviceDescription,
    name: str,
    cpp_sources: str | Sequence[str],
    device_sources: str | Sequence[str] = (),
    *,
    functions: str | Sequence[str] | Mapping[str, str] = (),
    extra_cflags: Sequence[str] = (),
    extra_device_flags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str] = (),
    build_directory: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    is_python_module: bool = True,
) -> Any:
    """Builds an extension from text and loads it; see `load` for what is not described here.

    Args:
      device: compiles ``device_sources``.
      name: of the extension.
      cpp_sources: host code; comes after ``#include <torch/extension.h>``.
      device_sources: device code; comes after the device's ``inline_includes``.
      functions: C++ functions that the host code declares, to be bound to Python: names, or a dict
        of name to docstring.
      extra_cflags: see `load`.
      extra_device_flags: see `load`.
      extra_ldflags: see `load`.
      extra_include_paths: see `load`.
      build_directory: see `load`.
      verbose: see `load`.
      is_python_module: see `load`.

    Returns:
      As `load`.

    Raises:
      OSError: as `load`.
      RuntimeError: as `load`.
    """
    folder = _folder(name, device, build_directory)
    folder.mkdir(parents=True, exist_ok=True)
    host = ["#include <torch/extension.h>", *_listed(cpp_sources), *_bindings(functions)]
    sources = [_written(folder / "main.cpp", host)]
    if device_sources:
        code = [f"#include <{header}>" for header in device.inline_includes]
        path = folder / f"{device.name}{device.suffixes[0]}"
        sources.append(_written(path, [*code, *_listed(device_sources)]))
    return load(
        device,
        name,
        sources,
        extra_cflags=extra_cflags,
        extra_device_flags=extra_device_flags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=folder,
        verbose=verbose,
        is_python_module=is_python_module,
    )


def _listed(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _written(path: pathlib.Path, lines: Sequence[str]) -> str:
    write_if_changed(path, "\n".join(lines) + "\n")
    return str(path)


def _bindings(functions: str | Sequence[str] | Mapping[str, str]) -> list[str]:
    if not functions:
        return []
    table = (
        functions if isinstance(functions, Mapping) else {name: name for name in _listed(functions)}
    )
    lines = ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {"]
    for name, text in table.items():
        # wrap_pybind_function turns torch's C++ errors into Python's and releases the lock.
        lines.append(
            f'  module.def("{name}", torch::wrap_pybind_function({name}), R"doc({text})doc");'
        )
    return [*lines, "}"]


def _folder(
    name: str, device: DeviceDescription, chosen: str | os.PathLike[str] | None
) -> pathlib.Path:
    if chosen is not None:
        return pathlib.Path(chosen).absolute()
    root = os.environ.get(FOLDER_VARIABLE) or upstream.get_default_build_root()
    return pathlib.Path(root).absolute() / device.name / name


def _digest(sources: Sequence[pathlib.Path], arguments: Sequence[object]) -> str:
    digest = hashlib.sha256(repr(arguments).encode())
    for source in sources:
        digest.update(b"\0" + str(source).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _version(key: str, digest: str) -> tuple[int, bool]:
    """How many other versions of an extension were there first, and whether this one is new."""
    with _built_lock:
        digests = _built.setdefault(key, [])
        is_new = digest not in digests
        if is_new:
            digests.append(digest)
        return digests.index(digest), is_new


def _forget(key: str, digest: str) -> None:
    with _built_lock:
        # Only the last: the numbers of the others are taken.
        if _built[key][-1:] == [digest]:
            _built[key].pop()


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Keeps other threads and processes out; a process that dies lets them in."""
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(extension: setuptools.Extension, folder: pathlib.Path, *, verbose: bool) -> None:
    """Builds one extension with the command that a setup.py would use."""
    distribution = setuptools.Distribution({"name": extension.name, "ext_modules": [extension]})
    command = BuildExtension(distribution, no_python_abi_suffix=True)
    command.verbose_compilers = verbose
    command.build_lib = str(folder)
    command.build_temp = str(folder)
    command.ensure_finalized()
    command.run()


def _loaded(name: str, library: pathlib.Path, *, is_python_module: bool) -> Any:
    if not is_python_module:
        torch.ops.load_library(str(library))
        return str(library)
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
