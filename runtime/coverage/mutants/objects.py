"""What object files call."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterable


class ObjectError(Exception):
    """A file is no object code."""


def called(objects: Iterable[pathlib.Path]) -> set[str]:
    """The functions that object files or archives refer to and do not define.

    Raises:
        ObjectError: nm cannot read one.
    """
    names: set[str] = set()
    for path in objects:
        done = subprocess.run(
            ["nm", "--undefined-only", "--format=posix", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ObjectError(f"nm cannot read {path}: {done.stderr.strip()}")
        names |= {line.split()[0] for line in done.stdout.splitlines() if " U" in line}
    return names
