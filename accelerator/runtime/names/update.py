"""Writes the lists of names: what the libraries of NVIDIA's packages export, and what torch needs of one.

    ./bazelw run //accelerator/runtime/names:update

Downloads each library by itself, some 3 GB in all; ARGUMENTS name some of the lists, such as cu13/libcudart.so.13.
The versions are those that the torch of CUDA 12 and the newest of CUDA 13 are installed with. A library with one
soname in both has the names of both.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from tools.remote_wheel import fetch, index

# The list's file, without ".txt": the packages that have the library, and what its functions begin with.
_ANY = r"[A-Za-z]|__(cuda|nv)"
_LISTS: dict[str, tuple[tuple[str, ...], str]] = {
    "cu12/libcublas.so.12": (("nvidia-cublas-cu12==12.8.4.1",), _ANY),
    "cu12/libcublasLt.so.12": (("nvidia-cublas-cu12==12.8.4.1",), _ANY),
    "cu12/libcudart.so.12": (("nvidia-cuda-runtime-cu12==12.8.90",), _ANY),
    "cu12/libcufft.so.11": (("nvidia-cufft-cu12==11.3.3.83",), _ANY),
    "cu12/libcupti.so.12": (("nvidia-cuda-cupti-cu12==12.8.90",), _ANY),
    "cu12/libcusolver.so.11": (("nvidia-cusolver-cu12==11.7.3.90",), _ANY),
    "cu12/libcusparse.so.12": (("nvidia-cusparse-cu12==12.5.8.93",), _ANY),
    "cu12/libnvJitLink.so.12": (("nvidia-nvjitlink-cu12==12.8.93",), _ANY),
    "cu12/libnvrtc.so.12": (("nvidia-cuda-nvrtc-cu12==12.8.93",), _ANY),
    "cu13/libcublas.so.13": (("nvidia-cublas==13.4.1.3",), _ANY),
    "cu13/libcublasLt.so.13": (("nvidia-cublas==13.4.1.3",), _ANY),
    "cu13/libcudart.so.13": (("nvidia-cuda-runtime==13.2.86",), _ANY),
    "cu13/libcufft.so.12": (("nvidia-cufft==12.2.0.57",), _ANY),
    "cu13/libcupti.so.13": (("nvidia-cuda-cupti==13.2.86",), _ANY),
    "cu13/libcusolver.so.12": (("nvidia-cusolver==12.2.0.11",), _ANY),
    "cu13/libcusparse.so.12": (("nvidia-cusparse==12.7.10.12",), _ANY),
    "cu13/libnvJitLink.so.13": (("nvidia-nvjitlink==13.2.86",), _ANY),
    "cu13/libnvrtc.so.13": (("nvidia-cuda-nvrtc==13.2.86",), _ANY),
    "libcudnn.so.9": (("nvidia-cudnn-cu13==9.26.0.51",), "cudnn"),
    "libcufile.so.0": (("nvidia-cufile-cu12==1.13.1.3", "nvidia-cufile==1.17.1.22"), "cuFile"),
    "libcurand.so.10": (("nvidia-curand==10.4.2.66",), "curand"),
    "libcusparseLt.so.0": (
        ("nvidia-cusparselt-cu12==0.7.1", "nvidia-cusparselt-cu13==0.8.1"),
        "cusparseLt",
    ),
    "libnccl.so.2": (("nvidia-nccl-cu13==2.30.7",), "p?nccl"),
}
# NVSHMEM exports thousands of functions, of which nothing here has one: these are what torch is linked with.
_NEEDED: dict[str, tuple[str, tuple[str, ...], str]] = {
    "libnvshmem_host.so.3": (
        "torch/lib/libtorch_nvshmem.so",
        ("torch==2.9.1", "torch==2.12.1", "torch==2.15.0"),
        "nvshmem",
    )
}
_PLATFORMS = tuple(f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 25, 18, 17, 12)) + (
    "manylinux2014_x86_64",
)


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


@contextmanager
def _library(requirement: str, ending: str) -> Iterator[pathlib.Path]:
    """Downloads the library of that name out of a package's wheel."""
    wanted = index.Wanted(requirement, "3.13", _PLATFORMS)
    with fetch.remote(wanted) as (_, archive), tempfile.TemporaryDirectory() as folder:
        (member,) = (name for name in archive.namelist() if f"/{name}".endswith(f"/{ending}"))
        yield pathlib.Path(archive.extract(member, folder))


def main() -> int:
    """Writes the lists that are asked for, or all; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lists", nargs="*", help="such as cu13/libcudart.so.13")
    arguments = parser.parse_args()
    root = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "accelerator/runtime/names")
    for name in arguments.lists or [*_LISTS, *_NEEDED]:
        found: set[str] = set()
        if name in _NEEDED:
            ending, requirements, prefix = _NEEDED[name]
            which = "--undefined-only"
        else:
            requirements, prefix = _LISTS[name]
            ending, which = name.rpartition("/")[2], "--defined-only"
        for requirement in requirements:
            print(f"{name}: {requirement}", file=sys.stderr, flush=True)
            with _library(requirement, ending) as library:
                found |= names_of(library, which, prefix)
        (root / f"{name}.txt").write_text("".join(f"{one}\n" for one in sorted(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
