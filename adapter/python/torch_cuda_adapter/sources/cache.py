"""Keeps translations by content: the same text under the same rules is translated once.

An entry is a JSON file, named by a digest of all that it was made from, the code of this package
included. What cannot be read or written is as if it were not there.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import tempfile
import time
from typing import Any

FOLDER_VARIABLE = "TORCH_CUDA_ADAPTER_CACHE"
"""Where to keep translations; nowhere if it is set and empty."""

_KEPT_DAYS = 30
_DAY = 24 * 60 * 60


def folder() -> pathlib.Path | None:
    """Where translations are kept; None where they are not to be."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen is not None:
        return pathlib.Path(chosen) if chosen else None
    # Path's own fails for a user without a home, as containers have them.
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    return pathlib.Path(home) / "torch_cuda_adapter" / "sources"


class Cache:
    """The translations in a folder."""

    def __init__(self, root: pathlib.Path | None) -> None:
        """Opens a cache.

        Args:
            root: its folder, which is made when something is kept; None for a cache that keeps nothing.
        """
        self._root = root

    def read(self, *made_from: object) -> Any:
        """What was kept for all that it was made from; None if there is nothing."""
        if self._root is None:
            return None
        path = self._path(made_from)
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            os.utime(path)
        except (OSError, ValueError):
            return None
        return value

    def write(self, value: object, *made_from: object) -> None:
        """Keeps a value of JSON's kinds for all that it was made from."""
        if self._root is None:
            return
        path = self._path(made_from)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            unfinished = pathlib.Path(name)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(value, file)
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink()
                raise
            self._tidy()

    def _path(self, made_from: tuple[object, ...]) -> pathlib.Path:
        assert self._root is not None
        text = json.dumps([_code(), *made_from], sort_keys=True)
        digest = hashlib.sha256(text.encode("ascii")).hexdigest()
        return self._root / digest[:2] / f"{digest[2:]}.json"

    def _tidy(self) -> None:
        """Once a day, deletes what was not used for long."""
        assert self._root is not None
        mark = self._root / "tidied"
        now = time.time()
        if mark.exists() and now - mark.stat().st_mtime < _DAY:
            return
        mark.touch()
        for path in self._root.glob("*/*"):
            with contextlib.suppress(OSError):
                if now - path.stat().st_mtime > _KEPT_DAYS * _DAY:
                    path.unlink()


@functools.cache
def _code() -> str:
    """A digest of the code that translates, so that another version's entries are not taken."""
    digest = hashlib.sha256()
    here = pathlib.Path(__file__).parent
    for path in sorted([*here.glob("*.py"), *here.glob("*.toml")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
