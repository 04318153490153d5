"""Libraries of compiled functions in the user's cache folder.

A folder that others may write to is not used: what lies there is loaded into the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import stat

from torch_cuda_runtime import _built

LIMIT = 128 << 20
"""Bytes of all libraries. Each has some 17,000."""

_HASH = hashlib.sha256().digest_size
_SUFFIX = ".so"


def private_folder() -> pathlib.Path | None:
    """The folder for compiled functions, or None where there is none that is the user's alone."""
    folder = _built.cache() / "jiterator"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    others = stat.S_IWGRP | stat.S_IWOTH
    if status.st_uid != os.getuid() or status.st_mode & others or not os.access(folder, os.W_OK):
        return None
    return folder


def place(folder: pathlib.Path, key: str) -> pathlib.Path:
    """Where a library is kept, whether it is there or not.

    Args:
        folder: the private one.
        key: of the library, which may be part of a file name.
    """
    return folder / f"{key}{_SUFFIX}"


def find(kept: pathlib.Path) -> bool:
    """Whether a library is there with all of its bytes, and counts it as used now.

    Behind the bytes is their hash; the loader asks for neither.

    Args:
        kept: its place.
    """
    try:
        content = kept.read_bytes()
        os.utime(kept)
    except OSError:
        return False
    return hashlib.sha256(content[:-_HASH]).digest() == content[-_HASH:]


def keep(made: pathlib.Path, kept: pathlib.Path) -> bool:
    """Moves a library to its place, and deletes those that were not used for longest if all are above LIMIT.

    Args:
        made: in the same file system.
        kept: its place.

    Returns:
        Whether it is there.
    """
    try:
        content = made.read_bytes()
        with made.open("ab") as file:
            file.write(hashlib.sha256(content).digest())
        made.replace(kept)
    except OSError:
        return False
    _trim(kept.parent)
    return True


def _trim(folder: pathlib.Path) -> None:
    """Deletes down to three quarters of LIMIT, so that not each library that is added deletes another."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            # Another process may delete it meanwhile.
            with contextlib.suppress(OSError):
                if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime_ns, status.st_size, entry.path))
    size = sum(size for _, size, _ in found)
    if size <= LIMIT:
        return
    for _, bytes_of_it, path in sorted(found):
        if size <= LIMIT * 3 // 4:
            break
        with contextlib.suppress(OSError):
            # What is loaded stays when the file is gone.
            pathlib.Path(path).unlink()
            size -= bytes_of_it
