"""Runs a program in an environment with a framework's packages of PyPI and the wheels of this tree.

run.py SUITE PROGRAM WHEEL…

SUITE names packages in tests/strangers/suites.toml, which are downloaded once. Nothing is set but TORCH_CUDA_SIM.
"""

from __future__ import annotations

import os
import pathlib
import sys

from tests.strangers import run, suites
from tools.stock_torch import environments


def main(command_line: list[str]) -> int:
    """Prepares the environment, and returns the program's exit status."""
    name, program, *wheels = command_line
    python = run.prepare(suites.every()[name], [pathlib.Path(wheel).resolve() for wheel in wheels])
    settings = {**environments.clean(dict(os.environ)), "TORCH_CUDA_SIM": "1"}
    os.execve(python, [str(python), str(pathlib.Path(program).resolve())], settings)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
