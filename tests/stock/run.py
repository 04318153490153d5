"""Runs a program in an environment with a torch of PyPI and the wheels of this tree.

run.py VERSION DEVICES PROGRAM WHEEL…
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys


def main(command_line: list[str]) -> int:
    """Prepares the environment where it is not there yet, and returns the program's exit status."""
    version, devices, program, *wheels = command_line
    os.environ["TORCH_CUDA_STOCK"] = version
    from examples.stock import stock

    python = stock.prepare(
        stock.cache_folder(), [pathlib.Path(wheel).resolve() for wheel in wheels]
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "RUNFILES_DIR", "RUNFILES_MANIFEST_FILE", "JAVA_RUNFILES")
    }
    environment["TORCH_CUDA_DEVICES"] = devices
    return subprocess.run([python, program], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
