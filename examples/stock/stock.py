"""PyPI's torch, unmodified, on the simulated GPU: `./bazelw run //examples:stock`.

Makes a virtual environment in the cache folder with torch from PyPI (540 MB; none of NVIDIA's packages)
and the two wheels of this tree, and trains a small network on `cuda:0` in it. The second time torch is
there already. `./bazelw run //examples:stock -- train.py ARGUMENTS` runs a program of yours;
TORCH_CUDA_STOCK=2.12.1 takes another version of torch than 2.15.0.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

TORCH = os.environ.get("TORCH_CUDA_STOCK") or "2.15.0"
# What torch asks for beside NVIDIA's packages and Triton, which this program does without.
PACKAGES = (
    "filelock",
    "fsspec",
    "jinja2",
    "markupsafe",
    "mpmath",
    "networkx",
    "numpy",
    "setuptools",
    "sympy",
    "typing-extensions",
)
# In the environment, once a step is done.
_TORCH_DONE = "torch.done"
_WHEELS_DONE = "wheels.done"

Run = Callable[[Sequence[str]], None]


def cache_folder() -> pathlib.Path:
    """Where environments are kept: one for each version of torch and of Python."""
    cache = os.environ.get("TORCH_CUDA_CACHE") or str(
        pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        / "torch_cuda"
    )
    return pathlib.Path(cache) / f"stock-{TORCH}-{sys.implementation.cache_tag}"


def run(command: Sequence[str]) -> None:
    """Runs a command that prints to the terminal.

    Args:
        command: with its arguments.

    Raises:
        SystemExit: it failed.
    """
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        sys.exit(f"stock: `{' '.join(command)}` failed with exit status {done.returncode}")


def prepare(folder: pathlib.Path, wheels: Sequence[pathlib.Path], run: Run = run) -> pathlib.Path:
    """Makes the environment, or what is missing of it.

    Args:
        folder: where.
        wheels: to install beside torch.
        run: runs a command.

    Returns:
        Its Python.
    """
    python = folder / "bin" / "python3"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    if (folder / _TORCH_DONE).is_file() and python.exists():
        tell(1, f"torch {TORCH} is in {folder}")
    else:
        # Whatever an interrupted run has left.
        shutil.rmtree(folder, ignore_errors=True)
        tell(1, f"a virtual environment in {folder}")
        run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)])
        tell(2, f"torch {TORCH} from PyPI: 540 MB, 1.3 GB on disk")
        run([*pip, "--only-binary=:all:", f"torch=={TORCH}", *PACKAGES])
        (folder / _TORCH_DONE).touch()
    content = "\n".join(hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels)
    done = folder / _WHEELS_DONE
    if done.is_file() and done.read_text() == content:
        tell(3, "the wheels of this tree are there")
    else:
        tell(3, "the wheels of this tree")
        run([*pip, "--force-reinstall", "--no-index", *map(str, wheels)])
        done.write_text(content)
    return python


def tell(step: int, text: str) -> None:
    """Prints what comes next."""
    print(f"[{step}/4] {text}", flush=True)


def main() -> None:
    """Prepares the environment and becomes the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--train", type=pathlib.Path, required=True)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    begin = time.perf_counter()
    folder = cache_folder()
    train = options.train.resolve()
    python = prepare(folder, [wheel.resolve() for wheel in options.wheel])
    program = [argument for argument in options.program if argument != "--"] or [str(train)]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "RUNFILES_DIR", "RUNFILES_MANIFEST_FILE", "JAVA_RUNFILES")
    }
    environment.setdefault("TORCH_CUDA_SIM", "1")
    seconds = time.perf_counter() - begin
    tell(4, f"TORCH_CUDA_SIM=1 {python} {' '.join(program)}   (after {seconds:.0f} s)")
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    os.execve(python, [str(python), *program], environment)


if __name__ == "__main__":
    main()
