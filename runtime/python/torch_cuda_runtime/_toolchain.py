"""What a router is compiled with: the user's compiler, torch's own headers, and CUDA's."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence

from torch_cuda_runtime._errors import Unusable
from torch_cuda_runtime._torch import Torch

_COMPILERS = ("g++", "c++", "clang++")
_STANDARD = re.compile(r"-std=c\+\+(\d+)")
_OLD_ABI = re.compile(r"_GLIBCXX_USE_CXX11_ABI=0\b")

# Compiles where these are the headers of that CUDA, all that c10 includes of it.
_PROBE = """
#include <cuda_runtime_api.h>
#if CUDART_VERSION / 1000 != {major}
#error another CUDA
#endif
"""


@dataclasses.dataclass(frozen=True)
class Toolchain:
    """What compiles for one torch.

    Attributes:
        compiler: the command, with the user's own arguments.
        version: the first line that it says of itself.
        standard: of C++, such as "c++20": what torch compiles extensions with.
        flags: of the compiler: ABI and include folders.
        cuda: the folders with CUDA's headers.
    """

    compiler: tuple[str, ...]
    version: str
    standard: str
    flags: tuple[str, ...]
    cuda: tuple[pathlib.Path, ...]


def find(torch: Torch) -> Toolchain:
    """Finds what a router for a torch is compiled with.

    Args:
        torch: one with CUDA.

    Returns:
        It, tried: the compiler has this standard of C++, and reads CUDA's headers.

    Raises:
        Unusable: there is no compiler, it is too old, or headers are not there.
    """
    include = torch.folder / "include"
    if not (include / "ATen" / "core" / "dispatch" / "Dispatcher.h").is_file():
        raise Unusable(
            found=f"torch {torch.version} in {torch.folder}, without the headers of C++",
            needed=str(include / "ATen"),
            fix="install the torch from PyPI, which has them: python -m pip install --force-reinstall "
            f"--no-deps torch=={torch.version.partition('+')[0]}",
        )
    command, version = compiler()
    standard = _standard(torch)
    _check(command, version, standard)
    cuda = _cuda_headers(command, standard, torch)
    flags = (
        f"-D_GLIBCXX_USE_CXX11_ABI={_abi(torch)}",
        f"-isystem{include}",
        f"-isystem{include / 'torch' / 'csrc' / 'api' / 'include'}",
        *(f"-isystem{folder}" for folder in cuda),
    )
    return Toolchain(command, version, standard, flags, cuda)


def compiler() -> tuple[tuple[str, ...], str]:
    """Finds a compiler of C++: CXX, else the first of those that are usual.

    Returns:
        The command with the user's own arguments, and the first line that it says of itself.

    Raises:
        Unusable: there is none, or CXX is no command.
    """
    variable = os.environ.get("CXX", "")
    try:
        chosen = shlex.split(variable)
    except ValueError as error:
        raise Unusable(
            found=f"CXX={variable}, which is no command ({str(error).lower()})",
            needed="a compiler of C++ and its arguments, quoted as for a shell",
            fix="set CXX to such a command, such as CXX=g++-13, or to nothing",
        ) from error
    for command in [chosen] if chosen else [[name] for name in _COMPILERS]:
        if shutil.which(command[0]) is None:
            continue
        said = _run([*command, "--version"])
        if said.returncode == 0 and said.stdout.strip():
            return tuple(command), said.stdout.strip().splitlines()[0]
    names = f"CXX={shlex.join(chosen)}" if chosen else f"none of {', '.join(_COMPILERS)} in PATH"
    raise Unusable(
        found=f"no compiler of C++ ({names})",
        needed="g++ or clang++ with the C++ library of GCC",
        fix="apt-get install g++, dnf install gcc-c++ or conda install -c conda-forge gxx; or set CXX",
    )


def _check(compiler: Sequence[str], version: str, standard: str) -> None:
    """Whether it compiles anything of the standard, against GCC's library: torch's is that one's."""
    code = "#include <string>\n#ifndef __GLIBCXX__\n#error not GCC's C++ library\n#endif\n"
    if _compiles(compiler, standard, code):
        return
    raise Unusable(
        found=f"{shlex.join(compiler)} ({version}), which does not compile {standard} with GCC's C++ library",
        needed="g++ 11 or newer, or clang++ 14 or newer beside it",
        fix="set CXX to such a compiler, such as CXX=g++-13",
    )


def _cuda_headers(compiler: Sequence[str], standard: str, torch: Torch) -> tuple[pathlib.Path, ...]:
    """The first folders that have the headers of CUDA's major version."""
    looked = []
    probe = _PROBE.format(major=torch.cuda_major)
    for folders in _cuda_folders(torch):
        if not (folders[0] / "cuda_runtime_api.h").is_file():
            continue
        looked.append(str(folders[0]))
        if _compiles([*compiler, *(f"-isystem{one}" for one in folders)], standard, probe):
            return folders
    packages = (
        "nvidia-cuda-runtime-cu12 nvidia-cuda-nvcc-cu12"
        if torch.cuda_major == 12
        else f'"nvidia-cuda-runtime=={torch.cuda_major}.*" "nvidia-cuda-crt=={torch.cuda_major}.*"'
    )
    raise Unusable(
        found=f"no whole headers of CUDA {torch.cuda_major} in {', '.join(looked)}"
        if looked
        else "no headers of CUDA",
        needed=f"cuda_runtime_api.h of CUDA {torch.cuda_major} with all that it includes",
        fix=f"python -m pip install --no-deps {packages}; or install the triton that this torch asks "
        "for, which has them, too; or set CUDA_HOME",
    )


def _cuda_folders(torch: Torch) -> Iterator[tuple[pathlib.Path, ...]]:
    """Where headers of CUDA may be; those in the second folder are included by those in the first."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield (pathlib.Path(os.environ[variable]) / "include",)
    sites = [torch.folder.parent, *map(pathlib.Path, sys.path)]
    for site in dict.fromkeys([*sites, pathlib.Path(sysconfig.get_path("purelib"))]):
        yield (site / "nvidia" / f"cu{torch.cuda_major}" / "include",)
        yield tuple(site / "nvidia" / of / "include" for of in ("cuda_runtime", "cuda_nvcc"))
        yield (site / "triton" / "backends" / "nvidia" / "include",)


def _standard(torch: Torch) -> str:
    """The standard that this torch compiles extensions with, by what its cpp_extension says."""
    try:
        text = (torch.folder / "utils" / "cpp_extension.py").read_text(encoding="utf-8")
    except OSError:
        text = ""
    return f"c++{max(map(int, _STANDARD.findall(text)), default=17)}"


def _abi(torch: Torch) -> int:
    """0 where std::string is that of before GCC 5 (PyPI's packages up to 2.6), else 1."""
    file = torch.folder / "share" / "cmake" / "Torch" / "TorchConfig.cmake"
    try:
        return 0 if _OLD_ABI.search(file.read_text(encoding="utf-8")) else 1
    except OSError:
        return 1


def _compiles(compiler: Sequence[str], standard: str, code: str) -> bool:
    command = [*compiler, f"-std={standard}", "-fsyntax-only", "-w", "-x", "c++", "-"]
    return _run(command, code).returncode == 0


def _run(command: Sequence[str], given: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, quietly."""
    return subprocess.run(
        list(command), input=given, capture_output=True, text=True, errors="replace", check=False
    )
