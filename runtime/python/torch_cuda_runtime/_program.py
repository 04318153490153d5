"""Starts programs that are not Python, with what they need in their environment."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

import torch_cuda_runtime
from torch_cuda_runtime._errors import DeviceError

_ELF = b"\x7fELF"


def is_native(path: str) -> bool:
    """Whether a file is an executable of the machine's, as a compiler makes them.

    Args:
        path: of the file, which need not be there.
    """
    try:
        with pathlib.Path(path).open("rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def settings(preload: int | None) -> dict[str, str] | None:
    """The variables for a program; None where there are none, which is told on stderr.

    Args:
        preload: the CUDA major whose libraries are to be loaded before all others.
    """
    try:
        return torch_cuda_runtime.environment(preload=preload)
    except DeviceError as error:
        print(f"torch_cuda_runtime: {error}", file=sys.stderr)
        return None


def start(command: list[str], variables: dict[str, str]) -> int:
    """Replaces this process by a program.

    Args:
        command: the program and its arguments.
        variables: what is added to the environment.

    Returns:
        127 where there is no such program.
    """
    program = shutil.which(command[0])
    if program is None:
        print(f"torch_cuda_runtime: found no program {command[0]}", file=sys.stderr)
        return 127
    os.execve(program, command, {**os.environ, **variables})
