"""Runs a program in an environment with a torch of PyPI and the wheels of this tree.

run.py [--with=PACKAGE …] [--argument=TEXT …] VERSION DEVICES PROGRAM WHEEL…

--with and --argument as tools/stock_torch/run.py takes them.
"""

from __future__ import annotations

import os
import sys

from tools.stock_torch import run


def main(command_line: list[str]) -> int:
    """Prepares the environment, and returns the program's exit status."""
    options = [argument for argument in command_line if argument.startswith("--")]
    version, devices, *rest = command_line[len(options) :]
    os.environ["TORCH_CUDA_DEVICES"] = devices
    return run.main([*options, version, *rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
