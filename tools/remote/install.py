"""What the loopback proof needs beside Bazel, from PyPI and Debian, in a folder of the user's cache.

Nothing is installed into the system: BuildGrid goes to a virtual environment, Debian's packages are
unpacked.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence

BUILDGRID = "buildgrid==0.9.1"

# The worker and its runner, with the newer libraries of the suite that they come from. Only testing
# and unstable have them; the index of a suite in motion can lag behind its pool, so both are tried.
WORKER_PACKAGES = ("buildbox", "libstdc++6", "libgcc-s1")
WORKER_SUITES = ("forky", "sid")
WORKER_PROGRAMS = ("buildbox-casd", "buildbox-run-hosttools", "buildbox-worker")

# BuildGrid keeps its queue in PostgreSQL and takes no other database.
DATABASE_PACKAGES = ("postgresql-17", "libpq5", "libicu76")
DATABASE_SUITES = ("trixie",)

LIBRARIES = pathlib.Path("usr/lib/x86_64-linux-gnu")


class InstallError(Exception):
    """Something that is needed cannot be had; the text says what, and what to do."""


@dataclasses.dataclass(frozen=True)
class Installation:
    """Where things are.

    Attributes:
      folder: everything that lasts from one run to the next.
      buildgrid: the program of BuildGrid.
      programs: the folder of the worker's programs.
      database_packages: the folder of PostgreSQL's packages, not unpacked: PostgreSQL does not run
        as root, and another user may not be able to enter the cache folder.
    """

    folder: pathlib.Path
    buildgrid: pathlib.Path
    programs: pathlib.Path
    database_packages: pathlib.Path


def cache_folder() -> pathlib.Path:
    """The folder of this proof in the one that `./bazelw` keeps everything in."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    cache = os.environ.get("TORCH_CUDA_CACHE") or pathlib.Path(base) / "torch_cuda"
    return pathlib.Path(cache).absolute() / "remote"


def install(folder: pathlib.Path) -> Installation:
    """Fetches and unpacks what is not there yet.

    Args:
      folder: to keep it in.

    Returns:
      Where things are.

    Raises:
      InstallError: PyPI or Debian's packages cannot be reached.
    """
    environment = folder / "-".join(BUILDGRID.split("=="))
    _once(environment, _install_buildgrid)
    debian = folder / "buildbox"
    _once(debian, _install_worker)
    database = folder / "postgresql"
    _once(database, lambda path: _download(path, DATABASE_PACKAGES, DATABASE_SUITES))
    return Installation(folder, environment / "bin/bgd", debian / "programs", database)


def unpack(packages: pathlib.Path, folder: pathlib.Path) -> None:
    """Unpacks all Debian packages of a folder into another one."""
    for package in sorted(packages.glob("*.deb")):
        _call(["dpkg-deb", "--extract", str(package), str(folder)], "unpack a package")


def _once(folder: pathlib.Path, make: Callable[[pathlib.Path], None]) -> None:
    """Makes a folder, unless it was made to its end before."""
    stamp = folder / "complete"
    if stamp.is_file():
        return
    print(f"installing {folder.name}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(folder)
    stamp.touch()


def _install_buildgrid(folder: pathlib.Path) -> None:
    _call([sys.executable, "-m", "venv", str(folder)], "make a virtual environment")
    _call(
        [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", BUILDGRID],
        f"install {BUILDGRID} from PyPI",
    )


def _install_worker(folder: pathlib.Path) -> None:
    packages = folder / "packages"
    packages.mkdir()
    _download(packages, WORKER_PACKAGES, WORKER_SUITES)
    unpack(packages, folder)
    programs = folder / "programs"
    programs.mkdir()
    for name in WORKER_PROGRAMS:
        # The newer libraries are for these programs alone, not for the compilers that they start,
        # as LD_LIBRARY_PATH would have it.
        program = programs / name
        program.write_text(
            "#!/bin/sh\n"
            f'exec /lib64/ld-linux-x86-64.so.2 --library-path "{folder / LIBRARIES}" '
            f'"{folder / "usr/bin" / name}" "$@"\n',
            encoding="utf-8",
        )
        program.chmod(0o755)


def _download(folder: pathlib.Path, packages: Sequence[str], suites: Sequence[str]) -> None:
    last = len(suites) - 1
    for number, suite in enumerate(suites):
        try:
            _call(
                ["apt-get", "--quiet", "download", *(f"{name}/{suite}" for name in packages)],
                f"download {' '.join(packages)} from Debian {suite}",
                folder,
            )
            return
        except InstallError:
            if number == last:
                raise


def _call(command: Sequence[str], purpose: str, folder: pathlib.Path | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise InstallError(
            f"found no {command[0]}; needed to {purpose}. Type ./bazelw shell python3 -m "
            "tools.remote.loopback: the build root has it"
        ) from error
    if done.returncode != 0:
        raise InstallError(f"could not {purpose}: {done.stdout.strip()[-2000:]}")
