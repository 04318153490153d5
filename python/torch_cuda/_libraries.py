"""Finds NVIDIA's libraries and loads them before ours, which name them by soname only.

Searched in this order: what the process has loaded already, torch_cuda_runtime if it is asked
for (`_runtime.py`), the folders of `TORCH_CUDA_LIBRARY_PATH`, the `nvidia-*` packages from PyPI,
the system's loader.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from torch_cuda import _runtime
from torch_cuda._build import BuildInfo
from torch_cuda._errors import ActivationError

PATH_VARIABLE = "TORCH_CUDA_LIBRARY_PATH"

# Libraries before those that need them, so that a copy from the wrong place never comes in as
# somebody else's dependency. What is not listed comes last.
_ORDER = (
    "libcudart",
    "libnvJitLink",
    "libcublasLt",
    "libcublas",
    "libcufft",
    "libcurand",
    "libcusparse",
    "libcusolver",
    "libcudnn",
)

# Not linked by what is loaded at activation, so not worth their price at every `import torch`:
# PyTorch opens NVRTC by name, and cuSOLVER comes with the linear algebra library below.
_ON_FIRST_USE = ("libnvrtc", "libcusolver")
# Those of our own libraries that PyTorch opens by name.
_OURS_ON_FIRST_USE = ("libtorch_cuda_linalg.so",)


@dataclasses.dataclass(frozen=True)
class Library:
    """A library that was found and loaded.

    Attributes:
      soname: such as "libcublas.so.12".
      origin: "already loaded", the name of the environment variable that led to it, the PyPI
        package, or "system".
      path: its file where we chose it, None where the system's loader did.
      handle: the loaded library.
    """

    soname: str
    origin: str
    path: pathlib.Path | None
    handle: ctypes.CDLL


def stem(soname: str) -> str:
    """The soname without its version: "libcublas" for "libcublas.so.12"."""
    return soname.partition(".so")[0]


def in_load_order(sonames: Iterable[str]) -> list[str]:
    """Sorts sonames so that each comes after those it depends on.

    Args:
      sonames: such as "libcublas.so.12".

    Returns:
      All of them, once each.
    """
    rank = {name: place for place, name in enumerate(_ORDER)}
    return sorted(set(sonames), key=lambda soname: (rank.get(stem(soname), len(rank)), soname))


def needed_at_start(libraries: Mapping[str, str]) -> list[str]:
    """The libraries to load at activation, in order. See `needed_on_first_use` for the rest."""
    return in_load_order(name for name in libraries if stem(name) not in _ON_FIRST_USE)


def needed_on_first_use(libraries: Mapping[str, str]) -> list[str]:
    """The libraries that are not needed before a GPU is used, in order."""
    return in_load_order(name for name in libraries if stem(name) in _ON_FIRST_USE)


def pip_folder(package: str) -> str:
    """Where an NVIDIA package from PyPI puts its libraries, relative to site-packages.

    Args:
      package: such as "nvidia-cuda-runtime-cu12".

    Returns:
      Such as "nvidia/cuda_runtime/lib".
    """
    name = re.sub(r"-cu\d+$", "", package.removeprefix("nvidia-"))
    return f"nvidia/{name.replace('-', '_')}/lib"


def candidates(
    soname: str, package: str, environ: Mapping[str, str], search_path: Sequence[str]
) -> list[tuple[str, pathlib.Path]]:
    """Where a library lies, outside of the system's own folders.

    Args:
      soname: such as "libcublas.so.12".
      package: the package on PyPI that carries it.
      environ: environment variables.
      search_path: folders in which packages can be installed, such as `sys.path`.

    Returns:
      Origin and path of each file that exists, the one to use first.

    Raises:
      ActivationError: torch_cuda_runtime is asked for and not installed.
    """
    asked = _runtime.requested_by(environ)
    folders = [(asked, runtime) for runtime in _runtime.library_folders(environ) if asked]
    folders += [
        (PATH_VARIABLE, pathlib.Path(folder))
        for folder in environ.get(PATH_VARIABLE, "").split(os.pathsep)
        if folder
    ]
    folders += [(package, pathlib.Path(site) / pip_folder(package)) for site in search_path if site]
    return [(origin, folder / soname) for origin, folder in folders if (folder / soname).is_file()]


def load(
    soname: str, package: str, environ: Mapping[str, str], search_path: Sequence[str]
) -> Library:
    """Finds and loads one library, with its symbols visible to those loaded later.

    Args:
      soname: such as "libcublas.so.12".
      package: the package on PyPI that carries it.
      environ: environment variables.
      search_path: folders in which packages can be installed, such as `sys.path`.

    Returns:
      The library.

    Raises:
      OSError: it is nowhere, or the loader refuses it; the text is the loader's.
    """
    try:
        loaded = ctypes.CDLL(soname, mode=os.RTLD_NOLOAD | os.RTLD_GLOBAL)
        return Library(soname, "already loaded", None, loaded)
    except OSError:
        pass
    for origin, path in candidates(soname, package, environ, search_path)[:1]:
        # A file that is there but broken is an error to report, not one to step over.
        return Library(soname, origin, path, ctypes.CDLL(str(path), mode=os.RTLD_GLOBAL))
    return Library(soname, "system", None, ctypes.CDLL(soname, mode=os.RTLD_GLOBAL))


def preload(
    build: BuildInfo,
    environ: Mapping[str, str] = os.environ,
    search_path: Sequence[str] = sys.path,
) -> list[Library]:
    """Loads the CUDA libraries that torch_cuda is linked against, and checks their version.

    Args:
      build: names the libraries and the CUDA version.
      environ: environment variables.
      search_path: folders in which packages can be installed.

    Returns:
      The libraries in the order in which they were loaded.

    Raises:
      ActivationError: libraries are missing, cannot be loaded, or are too old. All missing ones are
        named at once.
    """
    runtime = _runtime.library_folder(environ)
    if runtime is not None:
        # Before libcudart, which opens it by name.
        _runtime.load_driver(runtime)
    found: list[Library] = []
    missing: dict[str, str] = {}
    for soname in needed_at_start(build.cuda_libraries):
        try:
            library = load(soname, build.cuda_libraries[soname], environ, search_path)
        except OSError as error:
            missing[soname] = str(error)
            continue
        check_version(library, build)
        found.append(library)
    if missing:
        packages = " ".join(sorted({build.cuda_libraries[soname] for soname in missing}))
        reasons = "; ".join(f"{soname} ({reason})" for soname, reason in missing.items())
        raise ActivationError(
            found=f"no usable {reasons}",
            needed=f"the libraries of CUDA {build.cuda_version} or newer, of the same major "
            "version",
            fix=f"python -m pip install {packages}\n"
            f"or set {PATH_VARIABLE} to the folders of an installed CUDA, separated by "
            f"{os.pathsep!r}",
        )
    return found


def load_on_first_use(
    build: BuildInfo,
    package: pathlib.Path,
    environ: Mapping[str, str] = os.environ,
    search_path: Sequence[str] = sys.path,
) -> None:
    """Loads the libraries that PyTorch opens by name, so that it finds them wherever they lie.

    By itself it looks beside libtorch_cpu and on the system only. What is missing is passed over:
    PyTorch says so itself, in its own words, when it really needs the library.

    Args:
      build: names the CUDA libraries.
      package: folder of the installed torch_cuda.
      environ: environment variables.
      search_path: folders in which packages can be installed.
    """
    for soname in needed_on_first_use(build.cuda_libraries):
        with contextlib.suppress(OSError):
            load(soname, build.cuda_libraries[soname], environ, search_path)
    for name in _OURS_ON_FIRST_USE:
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(package / "lib" / name), mode=os.RTLD_GLOBAL)


def check_version(library: Library, build: BuildInfo) -> None:
    """Checks that the CUDA runtime is not older than the one that torch_cuda was built with.

    An older one of the same major version loads, but lacks functions, and the first call of one of
    these would end the process. Libraries other than the runtime are not looked at.

    Args:
      library: the loaded library.
      build: says which CUDA version is needed.

    Raises:
      ActivationError: it is too old.
    """
    if stem(library.soname) != "libcudart":
        return
    found = runtime_version(library.handle)
    needed = tuple(int(part) for part in build.cuda_version.split(".")[:2])
    if found < needed:
        place = library.path or library.origin
        raise ActivationError(
            found=f"the CUDA runtime {found[0]}.{found[1]} ({library.soname}, {place})",
            needed=f"CUDA {build.cuda_version} or newer, of the same major version",
            fix="python -m pip install --upgrade "
            f'"{build.cuda_libraries[library.soname]}>={build.cuda_version}"\n'
            f"or set {PATH_VARIABLE} to the folder of a newer one",
        )


def runtime_version(cudart: ctypes.CDLL) -> tuple[int, int]:
    """Asks a CUDA runtime for its version; needs neither a GPU nor a driver.

    Args:
      cudart: the loaded libcudart.

    Returns:
      Major and minor version.

    Raises:
      OSError: the library has no such function or does not answer.
    """
    version = ctypes.c_int(0)
    try:
        status = cudart.cudaRuntimeGetVersion(ctypes.byref(version))
    except AttributeError as error:
        raise OSError(f"not a CUDA runtime: {error}") from error
    if status != 0:
        raise OSError(f"cudaRuntimeGetVersion failed with error {status}")
    return version.value // 1000, version.value % 1000 // 10
