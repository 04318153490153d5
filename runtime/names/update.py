"""Writes the lists of names: what the libraries of NVIDIA's packages export, and what torch needs of one.

    ./bazelw run //runtime/names:update -- --release 13.5.0   # takes the names of a release of CUDA
    ./bazelw run //runtime/names:update                       # writes all lists again

The first pins the versions that the release's package (cuda-toolkit) names, in packages.txt, and writes the lists of
its libraries, in a minute or two. ARGUMENTS name some of the lists, such as libcudart. Members are taken out of the
wheels on the index. A library of each major has one list, in which names that one major alone has are followed by it:
`cublasLtMatmulGrouped 13`. NVIDIA's driver and NVML are in no package: their names are what the headers declare.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from tools.remote_wheel import fetch, index

# The list's file, without ".txt": for CUDA 12 and 13 the package that has the library, and the ending of its soname.
_ANY = r"[A-Za-z]|__(cu|nv)"
_MAJORS: dict[str, dict[int, tuple[str, str]]] = {
    "libcublas": {12: ("nvidia-cublas-cu12", "12"), 13: ("nvidia-cublas", "13")},
    "libcublasLt": {12: ("nvidia-cublas-cu12", "12"), 13: ("nvidia-cublas", "13")},
    "libcudart": {12: ("nvidia-cuda-runtime-cu12", "12"), 13: ("nvidia-cuda-runtime", "13")},
    "libcufft": {12: ("nvidia-cufft-cu12", "11"), 13: ("nvidia-cufft", "12")},
    "libcupti": {12: ("nvidia-cuda-cupti-cu12", "12"), 13: ("nvidia-cuda-cupti", "13")},
    "libcusolver": {12: ("nvidia-cusolver-cu12", "11"), 13: ("nvidia-cusolver", "12")},
    "libcusparse": {12: ("nvidia-cusparse-cu12", "12"), 13: ("nvidia-cusparse", "12")},
    "libnvJitLink": {12: ("nvidia-nvjitlink-cu12", "12"), 13: ("nvidia-nvjitlink", "13")},
    "libnvrtc": {12: ("nvidia-cuda-nvrtc-cu12", "12"), 13: ("nvidia-cuda-nvrtc", "13")},
}
# The same for libraries with one soname in both: the packages, and what the functions begin with.
_LISTS: dict[str, tuple[tuple[str, ...], str]] = {
    "libcudnn.so.9": (("nvidia-cudnn-cu13",), "cudnn"),
    "libcufile.so.0": (("nvidia-cufile-cu12", "nvidia-cufile"), "cuFile"),
    "libcurand.so.10": (("nvidia-curand",), "curand"),
    "libcusparseLt.so.0": (("nvidia-cusparselt-cu12", "nvidia-cusparselt-cu13"), "cusparseLt"),
    "libnccl.so.2": (("nvidia-nccl-cu13",), "p?nccl"),
}
# Of which only a header can be had: the package, and the header.
_DECLARED: dict[str, tuple[str, str]] = {
    "libcuda.so.1": ("nvidia-cuda-runtime", "include/cuda.h"),
    "libnvidia-ml.so.1": ("nvidia-nvml-dev", "include/nvml.h"),
}
# Which version of CUDA brought which form of a function of the driver.
_VERSIONS = "libcuda.so.1.versions"
_TYPEDEFS = ("nvidia-cuda-runtime", "include/cudaTypedefs.h")
# NVSHMEM exports thousands of functions, of which nothing here has one: these are what torch is linked with.
_NEEDED: dict[str, tuple[str, tuple[str, ...], str]] = {
    "libnvshmem_host.so.3": (
        "torch/lib/libtorch_nvshmem.so",
        ("torch==2.9.1", "torch==2.12.1", "torch==2.15.0"),
        "nvshmem",
    )
}
_PLATFORMS = tuple(f"manylinux_2_{minor}_x86_64" for minor in range(5, 36))


def names_of(library: pathlib.Path, which: str, prefix: str) -> set[str]:
    """Names in a library's table of dynamic symbols.

    Args:
        library: the file.
        which: "--defined-only" or "--undefined-only".
        prefix: a regular expression that names begin with.
    """
    done = subprocess.run(
        ["nm", "--dynamic", which, str(library)], capture_output=True, text=True, check=True
    )
    found = set()
    for line in done.stdout.splitlines():
        *_, kind, name = line.split()
        name = name.partition("@")[0]
        if kind in "TWiU" and re.match(prefix, name) and name not in ("_init", "_fini"):
            found.add(name)
    return found


def declared(header: str) -> set[str]:
    """Functions that cuda.h or nvml.h declares, also by the names that its macros give them.

    Args:
        header: its text.
    """
    code = _without_comments(header)
    found = set(
        re.findall(r"\b(?:CUDAAPI|DECLDIR)\s*(?:char\s*\*\s*)?((?:cu|nvml)[A-Z]\w*)\s*\(", code)
    )
    found |= set(
        re.findall(r"#define\s+(?:cu|nvml)[A-Z]\w*\s+((?:cu|nvml)[A-Z]\w*)\s*$", code, re.MULTILINE)
    )
    for suffix in ("_ptds", "_ptsz"):
        for name in re.findall(rf"__CUDA_API_{suffix[1:].upper()}\((cu[A-Z]\w*)\)", code):
            found |= {name, name + suffix}
    return found


def versions(typedefs: str) -> dict[str, list[int]]:
    """The versions of CUDA that brought a function's forms, in their order: `NAME`, `NAME_v2`, and so on.

    Args:
        typedefs: the text of cudaTypedefs.h.
    """
    found: dict[str, set[int]] = {}
    for name, version in re.findall(
        r"CUDAAPI\s*\*PFN_(cu\w+?)_v(\d+)\)", _without_comments(typedefs)
    ):
        found.setdefault(name, set()).add(int(version))
    return {name: sorted(numbers) for name, numbers in sorted(found.items())}


def marked(by_major: Mapping[int, set[str]]) -> list[str]:
    """The lines of one list for several majors.

    Args:
        by_major: the names that the library of each major of CUDA has.

    Returns:
        Sorted names, each followed by the major that has it where not all have.
    """
    everywhere = set.intersection(*by_major.values())
    lines = [f"{name} {major}" for major, names in by_major.items() for name in names - everywhere]
    return sorted([*everywhere, *lines])


def pins_of(metadata: str) -> dict[str, str]:
    """Packages and versions that a release of CUDA consists of.

    Args:
        metadata: of the package cuda-toolkit.
    """
    wanted = r"^Requires-Dist: (nvidia-[\w-]+)\S*?[=>]=([\d.]+?)(?:\.\*)?;.*x86_64"
    return dict(re.findall(wanted, metadata, re.MULTILINE))


def _without_comments(code: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", code, flags=re.DOTALL)


@contextmanager
def _member(requirement: str, ending: str) -> Iterator[pathlib.Path]:
    """Takes the file of that name out of a package's wheel."""
    wanted = index.Wanted(requirement, "3.13", _PLATFORMS)
    print(f"{requirement}: {ending}", file=sys.stderr, flush=True)
    with fetch.remote(wanted) as (_, archive), tempfile.TemporaryDirectory() as folder:
        (member,) = (name for name in archive.namelist() if f"/{name}".endswith(f"/{ending}"))
        yield pathlib.Path(archive.extract(member, folder))


def _text(requirement: str, ending: str) -> str:
    with _member(requirement, ending) as file:
        return file.read_text(encoding="utf-8")


def _packages_of(name: str) -> tuple[str, ...]:
    if name in _MAJORS:
        return tuple(package for package, _ in _MAJORS[name].values())
    if name in _LISTS:
        return _LISTS[name][0]
    return () if name in _NEEDED else (_TYPEDEFS if name == _VERSIONS else _DECLARED[name])[:1]


def _lines(name: str, pins: Mapping[str, str]) -> Iterable[str]:
    """The lines of a list."""
    if name in _MAJORS:
        by_major = {}
        for major, (package, version) in _MAJORS[name].items():
            with _member(f"{package}=={pins[package]}", f"{name}.so.{version}") as library:
                by_major[major] = names_of(library, "--defined-only", _ANY)
        return marked(by_major)
    requirements = [f"{package}=={pins[package]}" for package in _packages_of(name)]
    if name == _VERSIONS:
        found = versions(_text(requirements[0], _TYPEDEFS[1]))
        return [" ".join([name, *map(str, numbers)]) for name, numbers in found.items()]
    if name in _DECLARED:
        return sorted(declared(_text(requirements[0], _DECLARED[name][1])))
    if name in _NEEDED:
        ending, needing, prefix = _NEEDED[name]
        requirements, which = list(needing), "--undefined-only"
    else:
        prefix = _LISTS[name][1]
        ending, which = name.rpartition("/")[2], "--defined-only"
    names: set[str] = set()
    for requirement in requirements:
        with _member(requirement, ending) as library:
            names |= names_of(library, which, prefix)
    return sorted(names)


def _write(file: pathlib.Path, lines: Iterable[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> int:
    """Writes the lists that are asked for, or all; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--release", help="of CUDA, a version of the package cuda-toolkit: 13.5.0")
    parser.add_argument("lists", nargs="*", help="such as libcudart")
    arguments = parser.parse_args()
    root = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "runtime/names")
    packages = root / "packages.txt"
    pins = dict(line.split("==") for line in packages.read_text(encoding="utf-8").split())
    lists = arguments.lists or [*_MAJORS, *_LISTS, *_DECLARED, _VERSIONS, *_NEEDED]
    if arguments.release:
        of_release = pins_of(_text(f"cuda-toolkit=={arguments.release}", "METADATA"))
        pins |= {package: of_release[package] for package in pins if package in of_release}
        _write(packages, sorted(f"{package}=={version}" for package, version in pins.items()))
        lists = [name for name in lists if not of_release.keys().isdisjoint(_packages_of(name))]
    for name in lists:
        _write(root / f"{name}.txt", _lines(name, pins))
    return 0


if __name__ == "__main__":
    sys.exit(main())
