"""The folder of a run: what has been tested is kept there, so that a run that was stopped goes on from it."""

from __future__ import annotations

import fcntl
import json
import pathlib
import shutil
from collections.abc import Mapping
from typing import IO, Self

from tests.conformance import junit

_IDENTITY = "conformance.json"


class RecordsError(Exception):
    """A folder that cannot be used: what was found, what to do."""


class Records:
    """Outcomes of subjects, each a file, for one library with one set of options; nobody else's until the block ends."""

    def __init__(self, folder: pathlib.Path, identity: Mapping[str, str]) -> None:
        """Takes a folder; records of another identity go.

        Args:
            folder: is made when it is not there.
            identity: what outcomes depend on.

        Raises:
            RecordsError: the folder has other files, or another run is at work there.
        """
        self.folder = folder
        self._subjects = folder / "subjects"
        path = folder / _IDENTITY
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists() and any(folder.iterdir()):
                raise RecordsError(f"{folder} has other files in it; name a folder of its own")
            self._lock = path.open("a+", encoding="utf-8")
        except OSError as wrong:
            raise RecordsError(f"the folder {folder} cannot be used: {wrong}") from wrong
        try:
            self.is_fresh = not self._take(self._lock, dict(identity))
            self._subjects.mkdir(exist_ok=True)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def _take(self, file: IO[str], identity: dict[str, str]) -> bool:
        """Whether there are records of this identity."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RecordsError(
                f"another run is at work in {self.folder}; wait for it, or name another folder"
            ) from None
        file.seek(0)
        try:
            found = json.loads(file.read() or "null")
        except ValueError:
            found = None
        if found == identity:
            return True
        shutil.rmtree(self._subjects, ignore_errors=True)
        file.seek(0)
        file.truncate()
        json.dump(identity, file)
        file.flush()
        return False

    def path(self, title: str, suffix: str) -> pathlib.Path:
        """A file about a subject."""
        return self._subjects / (title.replace("/", "-") + suffix)

    def read(self, title: str) -> list[junit.Case] | None:
        """What became of a subject's tests; None: it was not run to its end."""
        path = self.path(title, ".xml")
        try:
            return junit.read(path) if path.is_file() else None
        except ValueError:
            return None

    def write(self, title: str, cases: list[junit.Case]) -> None:
        """Keeps what became of a subject's tests."""
        junit.write(self.path(title, ".xml"), [junit.suite_of(title, cases)])
