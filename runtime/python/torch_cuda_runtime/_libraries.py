"""The libraries of each CUDA major in this package, and how they come before NVIDIA's.

The libraries of a stock torch have a DT_RPATH that leads to NVIDIA's packages, so LD_LIBRARY_PATH
loses. What is loaded already under the name that they ask for wins always.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from collections.abc import Iterable

from torch_cuda_runtime._errors import Unusable

RUNTIME = "libaccel_runtime.so"
DRIVER = "libcuda.so.1"
NVML = "libnvidia-ml.so.1"

# Libraries before those that need them. What is not listed comes behind, in the order of the names.
_ORDER = (
    "libaccel_runtime",
    "libcuda",
    "libcudart",
    "libnvJitLink",
    "libcublasLt",
    "libcublas",
    "libcufft",
    "libcurand",
    "libcusparse",
    "libcusolver",
)


def root() -> pathlib.Path:
    """The folder with the libraries that all CUDA majors share."""
    return pathlib.Path(__file__).parent / "lib"


def folders(major: int) -> list[pathlib.Path]:
    """The folders with the libraries of a CUDA major: its own first, then the shared one.

    Args:
        major: such as 13.

    Returns:
        Them, or nothing where there are none for it.
    """
    both = [root() / f"cu{major}", root()]
    there = [folder for folder in both if folder.is_dir()]
    return there if any((folder / f"libcudart.so.{major}").is_file() for folder in there) else []


def majors() -> list[int]:
    """The CUDA majors that there are libraries for, the older first."""
    found = set()
    for path in (*root().glob("libcudart.so.*"), *root().glob("cu*/libcudart.so.*")):
        number = path.name.rpartition(".")[2]
        if number.isdigit():
            found.add(int(number))
    return sorted(major for major in found if folders(major))


def of(major: int) -> list[pathlib.Path]:
    """The libraries of a CUDA major, each behind those that it needs.

    Devices are not among them: the runtime loads those that are asked for.

    Args:
        major: such as 13.

    Returns:
        Their paths, each name once.
    """
    by_name: dict[str, pathlib.Path] = {}
    for folder in folders(major):
        for path in folder.glob("lib*.so*"):
            # libcuda.so is the driver under the name for linkers.
            if path.name == RUNTIME or not path.name.endswith(".so"):
                by_name.setdefault(path.name, path)
    rank = {stem: place for place, stem in enumerate(_ORDER)}
    ordered = sorted(
        by_name.values(),
        key=lambda path: (rank.get(path.name.partition(".so")[0], len(rank)), path.name),
    )
    return [*ordered, *_unversioned()] if ordered else []


def of_driver() -> list[pathlib.Path]:
    """The driver and NVML, which serve each CUDA major.

    Returns:
        Their paths, each behind those that it needs.
    """
    return [*(root() / name for name in (RUNTIME, DRIVER, NVML)), *_unversioned()]


def _unversioned() -> list[pathlib.Path]:
    """The driver and NVML under the names without a number, for programs that open them so."""
    return sorted((root() / "unversioned").glob("lib*.so"))


def preload(libraries: Iterable[pathlib.Path], who: str = "torch") -> None:
    """Loads libraries, so that everybody who asks for their names gets them.

    Args:
        libraries: what `of` or `of_driver` returned.
        who: is about to be imported and needs them.

    Raises:
        Unusable: others of these names are loaded already, or one does not load. Nothing is loaded
            in the first case.
    """
    libraries = list(libraries)
    for path in libraries:
        other = loaded_as(path.name)
        if other is not None and os.path.realpath(other) != os.path.realpath(path):
            raise Unusable(
                found=f"{other}, loaded into this process before {who}",
                needed=f"{path} in its place",
                fix=f"import {who} before what loads it, or start the program by "
                "python -m torch_cuda_runtime python ...",
            )
    for path in libraries:
        try:
            ctypes.CDLL(str(path), mode=os.RTLD_GLOBAL)
        except OSError as error:
            raise Unusable(
                found=f"a library that does not load: {error}",
                needed=str(path),
                fix="python -m pip install --force-reinstall --no-deps torch_cuda_runtime",
            ) from error


class _LinkMap(ctypes.Structure):
    """The start of glibc's `struct link_map`."""

    _fields_ = (("l_addr", ctypes.c_void_p), ("l_name", ctypes.c_char_p))


_RTLD_DI_LINKMAP = 2


def loaded_as(soname: str) -> str | None:
    """The file that this process has loaded under a name, or None."""
    try:
        library = ctypes.CDLL(soname, mode=os.RTLD_NOLOAD)
    except OSError:
        return None
    everything = ctypes.CDLL(None)
    # glibc 2.28 has it in a library of its own.
    dlinfo = getattr(everything, "dlinfo", None) or ctypes.CDLL("libdl.so.2").dlinfo
    dlinfo.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    link = ctypes.POINTER(_LinkMap)()
    if dlinfo(library._handle, _RTLD_DI_LINKMAP, ctypes.byref(link)) != 0:
        return soname
    return os.fsdecode(link.contents.l_name) or soname
