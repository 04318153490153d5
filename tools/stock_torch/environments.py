"""Environments with a torch of PyPI, which is downloaded once, each with wheels of its own.

A torch is kept in the cache folder by version and by Python. What is installed beside it goes into an
environment above it, which sees its packages, so that nothing is ever installed into the one that is kept.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence

# What torch asks for beside NVIDIA's packages and Triton, which nothing here needs.
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
# In the environment, once torch is there.
_DONE = "torch.done"
# In an environment that is kept, what is in it.
_CONTENT = "content.done"
# In an environment above another one, whose packages it sees.
_BELOW = "below.pth"
_SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"

Run = Callable[[Sequence[str]], None]


class PreparationError(Exception):
    """An environment that cannot be made: what was found, what is needed."""


def run(command: Sequence[str]) -> None:
    """Runs a command that prints to the terminal.

    Args:
        command: with its arguments.

    Raises:
        PreparationError: it failed.
    """
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        raise PreparationError(
            f"`{' '.join(command)}` failed with exit status {done.returncode}; what it said is above"
        )


def cache_folder(version: str) -> pathlib.Path:
    """Where the environment with a torch is kept.

    Args:
        version: of torch, such as "2.15.0".
    """
    cache = os.environ.get("TORCH_CUDA_CACHE") or str(
        pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        / "torch_cuda"
    )
    return pathlib.Path(cache) / f"stock-{version}-{sys.implementation.cache_tag}"


def with_torch(version: str, run: Run = run) -> pathlib.Path:
    """Makes the environment with a torch, where it is not there yet.

    Args:
        version: of torch, such as "2.15.0", or the path of a Python that has a torch, which is taken as it is.
        run: runs a command.

    Returns:
        Its Python.

    Raises:
        PreparationError: it cannot be made.
    """
    if "/" in version:
        python = pathlib.Path(version).absolute()
        if not os.access(python, os.X_OK):
            raise PreparationError(
                f"found no program {python}; needed a version of torch, such as 2.15.0, or the path "
                "of the Python of an environment with torch"
            )
        return python
    folder = cache_folder(version)
    python = folder / "bin" / "python3"
    if not ((folder / _DONE).is_file() and python.exists()):
        # Whatever an interrupted run has left.
        shutil.rmtree(folder, ignore_errors=True)
        _tell(f"torch {version} from PyPI: 540 MB, 1.3 GB on disk in {folder}")
        run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)])
        run([*_pip(python), "--only-binary=:all:", f"torch=={version}", *PACKAGES])
        (folder / _DONE).touch()
    return python


def above(
    python: pathlib.Path,
    folder: pathlib.Path,
    wheels: Sequence[pathlib.Path] = (),
    packages: Sequence[str] = (),
    run: Run = run,
) -> pathlib.Path:
    """Makes an environment above another one, with wheels and packages of its own.

    Args:
        python: of the environment below, whose packages are seen.
        folder: where; emptied.
        wheels: files to install, without what they ask for.
        packages: to install from PyPI, likewise.
        run: runs a command.

    Returns:
        Its Python.

    Raises:
        PreparationError: it cannot be made.
    """
    shutil.rmtree(folder, ignore_errors=True)
    # Of the same Python, in which the packages below work.
    run([str(python), "-I", "-m", "venv", "--without-pip", str(folder)])
    own = folder / "bin" / "python3"
    below = site_packages(python)
    seen = f"{below}\n"
    if (below / _BELOW).is_file():
        seen += (below / _BELOW).read_text(encoding="utf-8")
    (site_packages(own) / _BELOW).write_text(seen, encoding="utf-8")
    if wheels:
        run([*_pip(own), "--no-index", *map(str, wheels)])
    if packages:
        run([*_pip(own), "--only-binary=:all:", *packages])
    return own


def kept(
    python: pathlib.Path,
    folder: pathlib.Path,
    wheels: Sequence[pathlib.Path] = (),
    packages: Sequence[str] = (),
    run: Run = run,
) -> pathlib.Path:
    """Makes an environment above another one, unless it is there with the same content.

    Args:
        python: as `above` takes it, and so are all others.
        folder: where.
        wheels: to install.
        packages: to install from PyPI.
        run: runs a command.

    Returns:
        Its Python.

    Raises:
        PreparationError: it cannot be made.
    """
    hashes = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels]
    content = "\n".join([str(python), *packages, *hashes])
    done = folder / _CONTENT
    if not (done.is_file() and done.read_text(encoding="utf-8") == content):
        _tell(f"{' '.join([wheel.name for wheel in wheels] or packages)} into {folder}")
        above(python, folder, wheels, packages, run)
        done.write_text(content, encoding="utf-8")
    return folder / "bin" / "python3"


def site_packages(python: pathlib.Path) -> pathlib.Path:
    """Where the environment of a Python has its packages."""
    done = subprocess.run(
        [str(python), "-I", "-c", _SITE], check=True, capture_output=True, text=True
    )
    return pathlib.Path(done.stdout.strip())


def clean(environ: dict[str, str]) -> dict[str, str]:
    """Variables for programs in an environment: none that Bazel sets for the program that starts them.

    Args:
        environ: variables.
    """
    ours = (
        "JAVA_RUNFILES",
        "PYTHONPATH",
        "PYTHONSAFEPATH",
        "RUNFILES_DIR",
        "RUNFILES_MANIFEST_FILE",
    )
    return {name: value for name, value in environ.items() if name not in ours}


def _pip(python: pathlib.Path) -> list[str]:
    return [
        sys.executable,
        *("-m", "pip", "--python", str(python), "install", "--no-deps", "--quiet"),
        "--disable-pip-version-check",
    ]


def _tell(text: str) -> None:
    print(f"stock_torch: {text}", flush=True)
