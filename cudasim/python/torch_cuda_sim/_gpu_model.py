"""Which GPU is simulated where the user names none: the oldest that runs the PTX of the packages that are installed.

Packages with kernels of their own have PTX for one capability and newer ones, and machine code, which nothing but a
GPU runs. bitsandbytes, torchvision and JAX's plugin have PTX for 12.0 only.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import mmap
import pathlib
import re
import struct
from collections.abc import Iterator

OLDEST = "sm_80"
MODELS = (OLDEST, "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120")
"""As in CUDASIM_PROFILE, the older first."""

# The files with kernels, by the package. Of several the last by name counts: bitsandbytes has one for each CUDA.
_PACKAGES: dict[str, tuple[str, bool]] = {
    "bitsandbytes": ("libbitsandbytes_cuda*.so", True),
    "jax_cuda12_plugin": ("*.so", False),
    "jax_cuda13_plugin": ("*.so", False),
    "torchaudio": ("**/*.so", False),
    "torchvision": ("*.so", False),
}

# Sections of ELF files that nvcc puts fat binaries into.
_SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")
# runtime/code/fatbin/fatbin.cpp has the format.
_IMAGE = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ")
_MAGIC = 0xBA55ED50
_ALIGNMENT = 8
_PTX = 1
_ARCHITECTURE = 28


@dataclasses.dataclass(frozen=True)
class Choice:
    """What is simulated.

    Attributes:
        model: as in CUDASIM_PROFILE.
        packages: whose PTX is for no older model, each with the capability: ("torchvision", 120).
    """

    model: str
    packages: tuple[tuple[str, int], ...]


def choose() -> Choice:
    """Chooses the model for this Python's packages; none of them is imported."""
    needed: list[tuple[str, int]] = []
    for package in _PACKAGES:
        capability = oldest_capability(package)
        if capability is not None:
            needed.append((package, capability))
    least = max((capability for _, capability in needed), default=0)
    model = next((one for one in MODELS if _number(one) >= least), OLDEST)
    return Choice(
        model,
        tuple(one for one in needed if model != OLDEST and one[1] > _number(_before(model))),
    )


def oldest_capability(package: str) -> int | None:
    """The oldest capability that all of a package's kernels run on as PTX.

    Args:
        package: the name of its module.

    Returns:
        120 for 12.0; None where the package is not there, or has no PTX.
    """
    found: list[int] = []
    for path in _files(package):
        try:
            targets = list(ptx_targets(path))
        except (OSError, ValueError, struct.error):
            continue  # no library, or a damaged one: its loader says so
        if targets:
            found.append(min(targets))
    return max(found, default=None)


def ptx_targets(path: pathlib.Path) -> Iterator[int]:
    """The capabilities that the PTX of a library is for.

    Args:
        path: of an ELF file of 64 bits.

    Raises:
        OSError, ValueError, struct.error: it is none, or a damaged one.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        for start, size in _sections(image):
            at, end = start, start + size
            while at + _IMAGE.size <= end:
                magic, _, header, length = _IMAGE.unpack_from(image, at)
                if magic != _MAGIC:
                    at += _ALIGNMENT
                    continue
                yield from _entries(image, at + header, min(end, at + header + length))
                at += -(-(header + length) // _ALIGNMENT) * _ALIGNMENT


def _entries(image: mmap.mmap, at: int, end: int) -> Iterator[int]:
    while at + _ENTRY.size <= end:
        kind, _, header, payload = _ENTRY.unpack_from(image, at)
        if kind == _PTX:
            (architecture,) = struct.unpack_from("<I", image, at + _ARCHITECTURE)
            yield architecture
        if header + payload == 0:
            return
        at += header + payload


def _sections(image: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Offset and size of the sections with fat binaries. Source: the ELF-64 object file format, figure 3 and 5."""
    if image[:5] != b"\x7fELF\x02":
        raise ValueError("no ELF file of 64 bits")
    (table,) = struct.unpack_from("<Q", image, 0x28)
    entry_size, count, names = struct.unpack_from("<HHH", image, 0x3A)

    def section(number: int) -> tuple[int, int, int]:
        at = table + number * entry_size
        (name,) = struct.unpack_from("<I", image, at)
        offset, size = struct.unpack_from("<QQ", image, at + 0x18)
        return name, offset, size

    if table == 0 or count == 0:
        return
    _, strings, _ = section(names)
    for number in range(count):
        name, offset, size = section(number)
        begin = strings + name
        if image[begin : image.find(b"\0", begin)] in _SECTIONS:
            yield offset, size


def _files(package: str) -> list[pathlib.Path]:
    pattern, last_only = _PACKAGES[package]
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None or not spec.submodule_search_locations:
        return []
    found = sorted(pathlib.Path(spec.submodule_search_locations[0]).glob(pattern), key=_by_numbers)
    return found[-1:] if last_only else found


def _by_numbers(path: pathlib.Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def _number(model: str) -> int:
    return int(model.partition("_")[2])


def _before(model: str) -> str:
    return MODELS[max(0, MODELS.index(model) - 1)]
