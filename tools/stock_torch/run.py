"""Runs a program in an environment with a torch of PyPI and wheels.

run.py [--with=PACKAGE …] [--argument=TEXT …] VERSION PROGRAM WHEEL…

VERSION as `with_torch` takes it. --with installs a package of PyPI, too; of Triton the version that this torch asks for.
The program gets this process's variables, and what --argument says.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from tools.stock_torch import environments, triton


def main(command_line: list[str]) -> int:
    """Makes the environment, and returns the program's exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--with", action="append", default=[], dest="packages")
    parser.add_argument("--argument", action="append", default=[], dest="arguments")
    parser.add_argument("version")
    parser.add_argument("program")
    parser.add_argument("wheels", nargs="*", type=pathlib.Path)
    options = parser.parse_args(command_line)
    with tempfile.TemporaryDirectory() as temporary:
        try:
            torch = environments.with_torch(options.version)
            python = environments.above(
                torch,
                pathlib.Path(temporary) / "environment",
                [wheel.resolve() for wheel in options.wheels],
                triton.requirements(torch, options.packages),
            )
        except environments.PreparationError as error:
            print(f"stock_torch: {error}", file=sys.stderr)
            return 1
        # What lies beside the program is what Bazel put there, and not all that is where a link leads: the
        # source of a package would be imported in the place of its wheel.
        beside = str(pathlib.Path(options.program).absolute().parent)
        environ = {**environments.clean(dict(os.environ)), "PYTHONPATH": beside}
        command = [python, "-P", options.program, *options.arguments]
        return subprocess.run(command, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
