"""Starts a Python that has the freshly built plugin; `bazel run //python:console -- ARGUMENTS`.

    bazel run //python:console                       # interactive
    bazel run //python:console -- script.py --flag
    bazel run //python:console -- -c 'import torch; print(torch.version.cuda)'

What comes after `--` goes to Python as it is, and runs in the folder where Bazel was called.
Processes that a script starts have the plugin as well.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence


def environment(site: pathlib.Path, base: Mapping[str, str]) -> dict[str, str]:
    """Makes the environment of a Python that sees a site-packages folder.

    Args:
        site: the folder.
        base: environment to start from. What Bazel's launcher adds for this program is left out;
            a PYTHONPATH that the user had is kept.

    Returns:
        The environment.
    """
    runfiles = base.get("RUNFILES_DIR", "")
    theirs = [
        entry
        for entry in base.get("PYTHONPATH", "").split(os.pathsep)
        if entry and not (runfiles and entry.startswith(runfiles))
    ]
    kept = {
        name: value
        for name, value in base.items()
        if name not in ("RUNFILES_DIR", "RUNFILES_MANIFEST_FILE", "JAVA_RUNFILES")
    }
    return {**kept, "PYTHONPATH": os.pathsep.join([str(site), *theirs])}


def main(argv: Sequence[str]) -> None:
    """Becomes the interpreter.

    Args:
        argv: `[--python PYTHON] --site FOLDER -- ARGUMENTS`; ARGUMENTS are Python's.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has torch")
    parser.add_argument("--site", type=pathlib.Path, required=True, help="the unpacked wheel")
    split = argv.index("--") if "--" in argv else len(argv)
    options = parser.parse_args(argv[:split])
    site = options.site.resolve()
    if not (site / "torch_cuda").is_dir():
        parser.error(f"{site} has no torch_cuda; start this with `bazel run //python:console`.")
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    command = [options.python, *argv[split + 1 :]]
    os.execve(options.python, command, environment(site, os.environ))


if __name__ == "__main__":
    main(sys.argv[1:])
