"""Runs tests of other folders, which are for installed wheels, in an environment with a torch of PyPI.

suite.py [--set=NAME=VALUE …] VERSION DEVICES TEST… WHEEL…

--set gives the tests a variable. A test is a file of this tree that ends in `_test.py`; it imports what it needs from `tests`.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from tools.stock_torch import environments

_ROOT = pathlib.Path(__file__).absolute().parents[2]
# What the tests import beside torch and what it asks for.
_PACKAGES = ("absl-py", "expecttest", "packaging")
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_VERDICT = re.compile(r"^(OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)


def main(command_line: list[str]) -> int:
    """Runs each test, says what became of it, and returns 0 if all passed."""
    settings = [argument for argument in command_line if argument.startswith("--set=")]
    version, devices, *files = command_line[len(settings) :]
    variables = dict(setting.removeprefix("--set=").split("=", 1) for setting in settings)
    wheels = [file for file in files if file.endswith(".whl")]
    with tempfile.TemporaryDirectory() as temporary:
        try:
            python = environments.above(
                environments.with_torch(version),
                pathlib.Path(temporary) / "environment",
                [pathlib.Path(wheel).resolve() for wheel in wheels],
                _PACKAGES,
            )
        except environments.PreparationError as error:
            print(f"stock: {error}", file=sys.stderr)
            return 1
        variables["TORCH_CUDA_DEVICES"] = devices
        return _run_all(version, variables, python, files[: len(files) - len(wheels)])


def _run_all(
    version: str, variables: Mapping[str, str], python: pathlib.Path, tests: list[str]
) -> int:
    """Runs each test in an environment, says what became of it, and returns 0 if all passed."""
    environment = environments.clean(dict(os.environ)) | {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(_ROOT),
        **variables,
    }
    lines, failed = [], False
    for test in tests:
        code, text = _run(python, test, environment)
        ran = _RAN.findall(text)
        verdict = _VERDICT.findall(text)
        said = " ".join(filter(None, verdict[-1])) if verdict else "no verdict"
        lines.append(f"{test}: {ran[-1] if ran else 0} tests, exit status {code}, {said}")
        # A program that runs nothing has shown nothing.
        failed |= code != 0 or not ran or ran[-1] == "0"
    print(f"torch {version} with {dict(variables)}", *lines, sep="\n")
    return 1 if failed else 0


def _run(python: pathlib.Path, test: str, environment: dict[str, str]) -> tuple[int, str]:
    """Runs a test, whose output is printed as it comes, and returns its exit status and its output."""
    text = []
    with subprocess.Popen(
        [python, test],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            text.append(line)
    return process.returncode, "".join(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
