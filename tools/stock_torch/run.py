"""Runs a program in an environment with a torch of PyPI and wheels.

run.py VERSION PROGRAM WHEEL…

VERSION as `with_torch` takes it. The program gets this process's variables.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

from tools.stock_torch import environments


def main(command_line: list[str]) -> int:
    """Makes the environment, and returns the program's exit status."""
    version, program, *wheels = command_line
    with tempfile.TemporaryDirectory() as temporary:
        try:
            python = environments.above(
                environments.with_torch(version),
                pathlib.Path(temporary) / "environment",
                [pathlib.Path(wheel).resolve() for wheel in wheels],
            )
        except environments.PreparationError as error:
            print(f"stock_torch: {error}", file=sys.stderr)
            return 1
        return subprocess.run(
            [python, program], env=environments.clean(dict(os.environ)), check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
