"""Runs one nvcc compilation and tells Bazel which declared headers it did not read.

Usage: compile.py DEPFILE UNUSED INPUTS -- COMMAND…

DEPFILE is what nvcc writes for `-MF`, INPUTS a file with one declared input a line, UNUSED the file that receives those
of them that the compilation did not read, so that a later change to one of them does not compile this unit again.
"""

import os
import pathlib
import subprocess
import sys


def dependencies(depfile: str) -> set[str]:
    """Returns the normalised paths that a make-style dependency file names."""
    _, _, paths = depfile.replace("\\\n", " ").partition(":")
    return {os.path.normpath(path) for path in paths.split()}


def main(arguments: list[str]) -> int:
    """Runs the compilation; returns its exit code."""
    depfile, unused, inputs = map(pathlib.Path, arguments[:3])
    command = arguments[arguments.index("--") + 1 :]
    code = subprocess.run(command, check=False).returncode
    if code:
        return code
    read = dependencies(depfile.read_text())
    declared = inputs.read_text().splitlines()
    unread = [path for path in declared if os.path.normpath(path) not in read]
    unused.write_text("".join(f"{path}\n" for path in unread))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
