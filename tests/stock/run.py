"""Runs a program in an environment with a torch of PyPI and the wheels of this tree.

run.py VERSION DEVICES PROGRAM WHEEL…
"""

from __future__ import annotations

import os
import sys

from tools.stock_torch import run


def main(command_line: list[str]) -> int:
    """Prepares the environment, and returns the program's exit status."""
    version, devices, *rest = command_line
    os.environ["TORCH_CUDA_DEVICES"] = devices
    return run.main([version, *rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
