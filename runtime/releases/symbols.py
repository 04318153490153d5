"""Names in shared libraries and objects: what they need, what they have, and what our libraries have."""

from __future__ import annotations

import pathlib
import re
import subprocess
from collections.abc import Iterable, Mapping

from runtime.coverage import inventory

# Libraries whose symbols have no version that names them.
_PREFIXES = {
    "cudnn": "libcudnn.so.9",
    "cuFile": "libcufile.so.0",
    "cusparseLt": "libcusparseLt.so.0",
    "nccl": "libnccl.so.2",
    "nvml": "libnvidia-ml.so.1",
    "nvshmem": "libnvshmem_host.so.3",
}
_DRIVER = re.compile(r"cu[A-Z]\w+")
# Names of torch's and of those that go with it, as the compiler mangles them.
_TORCHS = re.compile(r"_Z\w*?(?:2at|3c10|5torch|6caffe2)[A-Z0-9N]?")


def needed(library: pathlib.Path) -> list[tuple[str, str]]:
    """The names that a shared library takes from others, each with its version, which may be empty."""
    return [_split(name) for name in _nm("--dynamic", "--undefined-only", str(library))]


def defined(libraries: Iterable[pathlib.Path]) -> set[str]:
    """The names that shared libraries have for others."""
    return {
        _split(name)[0]
        for library in libraries
        for name in _nm("--dynamic", "--defined-only", str(library))
    }


def of_torch(objects: Iterable[pathlib.Path]) -> set[str]:
    """The names of torch's that objects need, and that none of them defines.

    A weak name may be absent: what initialises a variable of a thread is, where nothing has to be done.
    """
    paths = [str(file) for file in objects]
    wanted = set(_nm("--undefined-only", *paths, but="wv")) - set(_nm("--defined-only", *paths))
    return {name for name in wanted if _TORCHS.match(name)}


def demangled(names: Iterable[str]) -> list[str]:
    """Names as the source has them."""
    given = "\n".join(sorted(names))
    done = subprocess.run(["c++filt"], input=given, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def of_cuda(names: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """The functions of CUDA's libraries among names with versions, by the soname of the library."""
    found: dict[str, set[str]] = {}
    for name, version in names:
        if re.fullmatch(r"lib(?:cu|nv)\w*\.so\.\d+", version):
            soname = version
        elif version:
            continue
        else:
            of_prefix = [one for prefix, one in _PREFIXES.items() if name.startswith(prefix)]
            if not of_prefix and not _DRIVER.fullmatch(name):
                continue
            soname = of_prefix[0] if of_prefix else "libcuda.so.1"
        found.setdefault(soname, set()).add(name)
    return found


def own_functions(
    libraries: Iterable[tuple[str, str, str]],
) -> dict[str, tuple[set[str], set[str]]]:
    """What our libraries have.

    Args:
        libraries: soname, and the files of the version script and of the stubs of each
            (//runtime/dropin).

    Returns:
        By soname, the functions that are there, and those that answer "not supported".
    """
    found = {}
    for soname, script, stubs in libraries:
        exported = set(re.findall(r"^    (\w+);$", pathlib.Path(script).read_text(), re.MULTILINE))
        library = inventory.library(
            soname, pathlib.Path(script).read_text(), pathlib.Path(stubs).read_text(), {}
        )
        there = {function.name for function in library.functions}
        found[soname] = (there, exported - there)
    return found


def lacking(
    wanted: Mapping[str, set[str]], own: Mapping[str, tuple[set[str], set[str]]]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What of the wanted functions our libraries have not.

    Args:
        wanted: of `of_cuda`.
        own: of `own_functions`.

    Returns:
        By soname, the functions that no library of ours exports, and those that answer "not supported".
    """
    absent, unsupported = {}, {}
    for soname, names in sorted(wanted.items()):
        there, stubs = own.get(soname, (set(), set()))
        if names - there - stubs:
            absent[soname] = sorted(names - there - stubs)
        if names & stubs:
            unsupported[soname] = sorted(names & stubs)
    return absent, unsupported


def _split(name: str) -> tuple[str, str]:
    """`cudaMalloc@libcudart.so.13` as name and version."""
    base, _, version = name.partition("@")
    return base, version.lstrip("@")


def _nm(*arguments: str, but: str = "") -> list[str]:
    """The names that nm prints, without those whose type is among the letters of `but`."""
    done = subprocess.run(
        ["nm", "--format=posix", *arguments], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    return [row[0] for row in rows if len(row) > 1 and row[1] not in but]
