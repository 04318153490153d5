"""A zip file whose bytes depend on its contents alone: no clock, no umask, no user.

Files are streamed in chunks, hashed on the way, so that shared libraries of some hundred megabytes
need no memory. What is in a wheel is not decided here.
"""

from __future__ import annotations

import hashlib
import pathlib
import types
import zipfile
from typing import Any, Self, cast

from tools.wheel.parallel_deflate import ParallelDeflate

_CHUNK = 1 << 20
# The first moment a zip file can express.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_REGULAR_FILE = 0o100000
_UNIX = 3
_ZIP64_FROM = 1 << 30
_IN_PARALLEL_FROM = 4 << 20


class WheelArchive:
    """Writes a deterministic zip file and remembers what RECORD has to list.

    Attributes:
        rows: for each file written so far its path, SHA-256 digest and size in bytes, in order of
            writing.
    """

    def __init__(self, path: pathlib.Path, compression_level: int) -> None:
        """Creates the file.

        Args:
            path: the zip file to write.
            compression_level: 0 stores, 1 to 9 deflates.
        """
        self.rows: list[tuple[str, bytes, int]] = []
        self._method = zipfile.ZIP_DEFLATED if compression_level else zipfile.ZIP_STORED
        # zipfile takes the level from the archive, not from the entry's constructor.
        self._level = compression_level or None
        self._zip = zipfile.ZipFile(path, "w", self._method, compresslevel=self._level)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self._zip.close()

    def add_file(self, source: pathlib.Path, path: str) -> None:
        """Adds a file from disk.

        Args:
            source: the file; symbolic links are followed. Shared objects and what is in a folder bin
                become executable (0755), everything else is 0644, whatever the mode on disk.
            path: its path in the archive.
        """
        place = pathlib.PurePosixPath(path)
        mode = 0o755 if ".so" in place.suffixes or place.parent.name == "bin" else 0o644
        size = source.stat().st_size
        digest = hashlib.sha256()
        with (
            source.open("rb") as reader,
            self._zip.open(self._entry(path, mode), "w", force_zip64=size > _ZIP64_FROM) as writer,
        ):
            if self._level and size > _IN_PARALLEL_FROM:
                # Half of an edit's way to a wheel is packing; zipfile has no public place for a compressor.
                cast(Any, writer)._compressor = ParallelDeflate(self._level)
            while chunk := reader.read(_CHUNK):
                digest.update(chunk)
                writer.write(chunk)
        self.rows.append((path, digest.digest(), size))

    def add_text(self, text: str, path: str) -> None:
        """Adds a UTF-8 text.

        Args:
            text: the contents.
            path: its path in the archive.
        """
        data = text.encode("utf-8")
        self._zip.writestr(self._entry(path, 0o644), data, compresslevel=self._level)
        self.rows.append((path, hashlib.sha256(data).digest(), len(data)))

    def _entry(self, path: str, mode: int) -> zipfile.ZipInfo:
        entry = zipfile.ZipInfo(path, date_time=_EPOCH)
        entry.compress_type = self._method
        entry.create_system = _UNIX
        entry.external_attr = (_REGULAR_FILE | mode) << 16
        # ZipFile.open takes the level from the entry; it is public there since Python 3.13.
        setattr(
            entry,
            "compress_level" if hasattr(entry, "compress_level") else "_compresslevel",
            self._level,
        )
        return entry
