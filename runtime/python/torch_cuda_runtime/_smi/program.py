"""Which nvidia-smi runs: this one where the environment asks for a device, else NVIDIA's."""

from __future__ import annotations

import os
import pathlib
import sys

from torch_cuda_runtime import _asked
from torch_cuda_runtime._smi import NAME, NO_DRIVER


def main() -> int:
    """Runs the program with the arguments of this process.

    Returns:
        The exit status, as nvidia-smi's manual page lists it.
    """
    if _asked.requested_by() is None:
        return _run_other()
    from torch_cuda_runtime._smi import command

    return command.main(sys.argv[1:])


def _run_other() -> int:
    """Replaces this process by NVIDIA's program; returns a status where there is none."""
    other = find_other(os.environ.get("PATH", ""))
    if other is not None:
        os.execv(other, [other, *sys.argv[1:]])
    print(
        f"{NAME}: found no NVIDIA driver: neither {_asked.DEVICES_VARIABLE} nor {_asked.SIM_VARIABLE} asks "
        f"for a device of torch_cuda_runtime, and PATH has no other {NAME}; set one, such as "
        f"{_asked.SIM_VARIABLE}=1, or install NVIDIA's driver",
        file=sys.stderr,
    )
    return NO_DRIVER


def find_other(path: str) -> str | None:
    """The first nvidia-smi that is not this one, of any environment.

    Args:
        path: folders, as PATH has them.
    """
    for folder in path.split(os.pathsep):
        program = pathlib.Path(folder, NAME)
        if not program.is_file() or not os.access(program, os.X_OK):
            continue
        try:
            with program.open("rb") as file:
                # What pip writes for an entry point is short.
                ours = b"torch_cuda_runtime" in file.read(4096)
        except OSError:
            ours = False  # may be run, not read
        if not ours:
            return str(program)
    return None
