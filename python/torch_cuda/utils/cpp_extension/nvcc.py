"""nvcc: which one is used, and the newest GPU that it compiles for."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import shlex
import subprocess

import torch.utils.cpp_extension as upstream

COMPILER_VARIABLE = "PYTORCH_NVCC"


def command() -> list[str]:
    """The command of nvcc: ``PYTORCH_NVCC`` if it is set, else the one of CUDA_HOME.

    Raises:
      OSError: no CUDA toolkit is found.
    """
    chosen = os.environ.get(COMPILER_VARIABLE)
    if chosen:
        return shlex.split(chosen)
    if not upstream.CUDA_HOME:
        raise OSError(
            "CUDA_HOME environment variable is not set. Please set it to your CUDA install root: "
            "the folder that holds bin/nvcc."
        )
    return [str(pathlib.Path(upstream.CUDA_HOME, "bin", "nvcc"))]


def newest_capability() -> tuple[int, int] | None:
    """The newest compute capability that nvcc compiles for; None where it does not tell."""
    try:
        return _newest_known(tuple(command()))
    except OSError:
        return None


@functools.cache
def _newest_known(nvcc: tuple[str, ...]) -> tuple[int, int] | None:
    done = subprocess.run([*nvcc, "--list-gpu-arch"], capture_output=True, text=True, check=False)
    numbers = [int(number) for number in re.findall(r"compute_(\d+)\b", done.stdout)]
    return divmod(max(numbers), 10) if numbers else None
