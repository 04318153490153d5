"""The launcher of `wheel_test`: runs a test in a fresh virtual environment over the stock torch.

The environment sees the packages of the base interpreter (torch among them) and holds a copy of
the unpacked wheels, so that a test can use and damage what is installed without harm to others.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

PYTHON_VARIABLE = "TORCH_CUDA_TEST_PYTHON"
SITE_VARIABLE = "TORCH_CUDA_TEST_SITE"

# Prints the folder that holds torch, without importing it.
_FIND_TORCH = """
import importlib.util, pathlib
spec = importlib.util.find_spec("torch")
print(pathlib.Path(spec.origin).parent.parent if spec and spec.origin else "")
"""

# Runs a file as `__main__`, as Python does. When unittest has all of its tests and begins to run them, the garbage
# collector is told to look no more at what is there: its rounds over torch's modules, and those at the end, take 0.3
# CPU seconds and more. Objects of the tests themselves are collected as ever.
_START = """
def _start():
    import gc, os, sys, unittest
    run = unittest.TestProgram.runTests
    def run_tests(program):
        gc.freeze()
        run(program)
    unittest.TestProgram.runTests = run_tests
    del sys.argv[0]
    if sys.path[0] == "":
        sys.path[0] = os.path.dirname(sys.argv[0])
    with open(sys.argv[0], "rb") as file:
        return compile(file.read(), sys.argv[0], "exec")
_start = _start()
__file__ = _start.co_filename
exec(globals().pop("_start"))
"""


def _output(python: pathlib.Path, code: str) -> str:
    return subprocess.run(
        [python, "-I", "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def create(folder: pathlib.Path, base: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Makes a virtual environment that sees the torch of another interpreter.

    Args:
        folder: where to make it.
        base: the interpreter that has torch; it may itself belong to a virtual environment.

    Returns:
        The new interpreter and its site-packages folder.

    Raises:
        SystemExit: the base interpreter has no torch.
    """
    subprocess.run(
        [base, "-I", "-m", "venv", "--system-site-packages", "--without-pip", folder], check=True
    )
    python = folder / "bin" / "python3"
    site = pathlib.Path(_output(python, "import sysconfig; print(sysconfig.get_path('purelib'))"))
    if not _output(python, _FIND_TORCH):
        # A virtual environment made from another one sees the system, not its parent.
        torch_site = _output(base, _FIND_TORCH)
        if not torch_site:
            raise SystemExit(
                f"{base} has no torch: install a CPU-only one there, or name another Python with "
                "--repo_env=TORCH_CUDA_PYTHON=PATH."
            )
        (site / "stock_torch.pth").write_text(f"{torch_site}\n", encoding="utf-8")
    return python, site


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the environment, runs the test in it, and takes it away again.

    Args:
        argv: `--python BASE --wheel_env FOLDER --main TEST -- ARGUMENTS`; the process's own
            arguments if None.

    Returns:
        The test's exit status; 128 and the signal when one ended it.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=pathlib.Path, required=True)
    parser.add_argument("--wheel_env", type=pathlib.Path, required=True)
    parser.add_argument("--main", type=pathlib.Path, required=True)
    parser.add_argument("arguments", nargs="*")
    arguments = parser.parse_args(argv)

    # Bazel keeps a test's folder for temporary files, and an environment is 300 MB.
    with tempfile.TemporaryDirectory(
        dir=os.environ.get("TEST_TMPDIR"), ignore_cleanup_errors=True
    ) as scratch:
        python, site = create(pathlib.Path(scratch) / "venv", arguments.python)
        shutil.copytree(arguments.wheel_env.resolve(), site, dirs_exist_ok=True)
        # Bazel leaves outputs read-only; a test that damages the installation has to be able to
        # write.
        for entry in (site, *site.rglob("*")):
            entry.chmod(entry.stat().st_mode | 0o200)
        # PYTHONPATH stays as Bazel's launcher set it, so the test finds its deps.
        environment = {**os.environ, PYTHON_VARIABLE: str(python), SITE_VARIABLE: str(site)}
        command = [str(python), "-c", _START, str(arguments.main.absolute()), *arguments.arguments]
        with subprocess.Popen(command, env=environment) as test:
            # Bazel ends a test that takes too long; the environment goes then, too.
            signal.signal(signal.SIGTERM, lambda *_: test.terminate())
            status = test.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
