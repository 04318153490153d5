"""Writes results: all of a file, or nothing."""

from __future__ import annotations

import os
import pathlib
import tempfile

from decouple.errors import DecoupleError


def write_text(path: pathlib.Path, text: str) -> None:
    """Writes a file in one step: whoever reads it sees the old content or the new one.

    Args:
        path: the file; its folder exists.
        text: the content, written as UTF-8. What stands for bytes of a tree that are not UTF-8 is written as "\\udcXX".

    Raises:
        DecoupleError: it cannot be written; what was there before is unchanged.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        # A device or a pipe is written to, and nothing takes its place.
        try:
            path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        except OSError as error:
            raise DecoupleError(f"cannot be written: {error.strerror}.", path=str(path)) from None
        return
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DecoupleError(f"cannot be written: {error.strerror}.", path=str(path)) from None
    temporary = pathlib.Path(name)
    try:
        with os.fdopen(
            handle, "w", encoding="utf-8", errors="backslashreplace", newline=""
        ) as file:
            file.write(text)
        # mkstemp makes a file for its owner only; a new file is for those whom the umask lets.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise DecoupleError(f"cannot be written: {error.strerror}.", path=str(path)) from None
