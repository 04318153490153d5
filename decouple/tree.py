"""A PyTorch source tree: its version, its files and their text."""

from __future__ import annotations

import functools
import os
import pathlib
import re

from decouple.errors import DecoupleError

# Without any one of these, a folder is not a tree whose build lists can be read.
_LANDMARKS = ("version.txt", "build_variables.bzl", "caffe2/CMakeLists.txt", "torch", "c10")
_NOT_SOURCE = frozenset({".git", "__pycache__"})
_RELEASE = re.compile(r"\s*(\d+(?:\.\d+)+)")


class Tree:
    """A source tree, read only. Paths are POSIX strings relative to its root."""

    def __init__(self, root: pathlib.Path) -> None:
        """Opens the tree at `root`.

        Raises:
            DecoupleError: `root` is not the root of a PyTorch source tree.
        """
        if not root.is_dir():
            raise DecoupleError(
                f"{root} is not a folder; name the root of a PyTorch source tree, "
                "where version.txt and build_variables.bzl are."
            )
        missing = [name for name in _LANDMARKS if not (root / name).exists()]
        if missing:
            raise DecoupleError(
                f"{root} is not a PyTorch source tree: it has no {missing[0]}; name the folder "
                "where version.txt and build_variables.bzl are."
            )
        self.root = root.resolve()

    @functools.cached_property
    def version(self) -> str:
        """The release that version.txt names, such as "2.6.0".

        Raises:
            DecoupleError: it names none.
        """
        found = _RELEASE.match(self.read_text("version.txt"))
        if found is None:
            raise DecoupleError("names no release such as 2.6.0.", path="version.txt", line=1)
        return found[1]

    @functools.cached_property
    def files(self) -> tuple[str, ...]:
        """All files of the tree, sorted, symbolic links included; those to folders are not followed.

        Raises:
            DecoupleError: a folder cannot be read, or something in it is neither a file nor a folder, or has a
                name that a patch cannot hold.
        """
        return tuple(sorted(self._entries))

    @functools.cached_property
    def links(self) -> frozenset[str]:
        """Those of the files that are symbolic links."""
        return frozenset(path for path, is_link in self._entries.items() if is_link)

    @functools.cached_property
    def _entries(self) -> dict[str, bool]:
        """Each file, and whether it is a symbolic link."""
        found: dict[str, bool] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(self.root / folder))
            except OSError as error:
                raise DecoupleError(f"cannot be read: {error.strerror}.", path=folder) from None
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if not entry.name.isprintable():
                    raise DecoupleError(
                        f"the name {path!a} is not printable UTF-8; rename the file."
                    )
                if entry.is_symlink():
                    found[path] = True
                elif entry.is_file():
                    found[path] = False
                elif not entry.is_dir():
                    raise DecoupleError("is neither a file nor a folder; remove it.", path=path)
                elif entry.name not in _NOT_SOURCE:
                    waiting.append(path)
        return found

    @functools.cached_property
    def folders(self) -> dict[str, tuple[str, ...]]:
        """Each folder that has files, with the names of the files in it; "" is the root."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, []).append(name)
        return {folder: tuple(names) for folder, names in found.items()}

    @functools.cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.files)

    def has(self, path: str) -> bool:
        """Whether the tree has a file of that path."""
        return path in self._known

    def read_bytes(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            DecoupleError: it is not there, or may not be read.
        """
        try:
            return (self.root / path).read_bytes()
        except OSError as error:
            raise DecoupleError(f"cannot be read: {error.strerror}.", path=path) from None

    def read_text(self, path: str) -> str:
        """The text of a file, its line ends as they are.

        Raises:
            DecoupleError: it cannot be read, or is not UTF-8.
        """
        return decode(self.read_bytes(path), path)


def decode(content: bytes, path: str) -> str:
    """The text of a file's content.

    Args:
        content: the bytes of the file.
        path: the file, for the message.

    Raises:
        DecoupleError: the bytes are not UTF-8; it names the line.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecoupleError(
            f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8.",
            path=path,
            line=content.count(b"\n", 0, error.start) + 1,
        ) from None
