"""Installs a release as its users do: by pip, from its index, over HTTP."""

from __future__ import annotations

import contextlib
import functools
import http.server
import pathlib
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence


class InstallationError(RuntimeError):
    """pip or the installed program failed; the text has what was said."""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing of each file."""


@contextlib.contextmanager
def served(folder: pathlib.Path) -> Iterator[str]:
    """Serves a folder on the loopback.

    Args:
        folder: with the index in `simple/`.

    Yields:
        The address, without a slash at its end.
    """
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def check(
    folder: pathlib.Path, packages: Sequence[str], program: str, environment: pathlib.Path
) -> str:
    """Makes a virtual environment, installs packages from the index, and runs a program there.

    Args:
        folder: of the release.
        packages: distributions that need nothing but each other.
        program: in Python.
        environment: where the environment goes; not there yet.

    Returns:
        What the program wrote.

    Raises:
        InstallationError: a step failed.
    """
    python = environment / "bin" / "python"
    _run([sys.executable, "-m", "venv", str(environment)])
    with served(folder) as address:
        options = [
            "--isolated",
            "--disable-pip-version-check",
            "--no-input",
            "--no-cache-dir",
            "--quiet",
        ]
        _run(
            [
                str(python),
                "-m",
                "pip",
                "install",
                *options,
                f"--index-url={address}/simple/",
                *packages,
            ]
        )
    return _run([str(python), "-c", program])


def _run(command: Sequence[str]) -> str:
    # Nothing of this program's own paths in the environment that is tried.
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    if done.returncode:
        raise InstallationError(
            f"{' '.join(command[:4])} …: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout
