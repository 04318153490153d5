"""A PyTorch source tree: its version, its files and their text."""

from __future__ import annotations

import copy
import functools
import os
import pathlib
import posixpath
import re
from collections.abc import Iterable

from decouple.errors import DecoupleError
from decouple.gaps import STRICT, Gap, Gaps

# What a tree has whose build lists can be read: files, and folders.
_LANDMARKS = ("version.txt", "build_variables.bzl", "caffe2/CMakeLists.txt", "torch/", "c10/")
# What every release of PyTorch had: the Python package, and one of the C++ libraries below it.
_PACKAGE = "torch"
_LIBRARIES = ("c10", "aten", "caffe2")
_NOT_SOURCE = frozenset({".git", "__pycache__"})
_RELEASE = re.compile(r"\s*(\d+(?:\.\d+)+)")
UNKNOWN = "unknown"
"""The version of a tree that names none."""
LONGEST_FILE = 4 << 20
"""Bytes that a source may have: upstream's longest has two million."""
LONGEST_LINE = 200_000
"""Bytes that a line of a source may have."""


class Tree:
    """A source tree, read only. Paths are POSIX strings relative to its root."""

    def __init__(self, root: pathlib.Path, gaps: Gaps = STRICT) -> None:
        """Opens the tree at `root`.

        Args:
            root: a folder.
            gaps: what cannot be read is reported there.

        Raises:
            DecoupleError: `root` is not the root of a PyTorch source tree.
        """
        try:
            if not root.is_dir():
                raise DecoupleError(
                    f"{root} is not a folder; name the root of a PyTorch source tree, "
                    "where version.txt and build_variables.bzl are."
                )
            self.root = root.resolve()
            missing = [
                name.removesuffix("/")
                for name in _LANDMARKS
                if not ((root / name).is_dir() if name.endswith("/") else (root / name).is_file())
            ]
            is_tree = (root / _PACKAGE).is_dir() and any(
                (root / lib).is_dir() for lib in _LIBRARIES
            )
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DecoupleError(f"{root} cannot be read: {reason}.") from None
        self.gaps = gaps
        if missing and (gaps.strict or not is_tree):
            # What is never there without being a tree is the better reason.
            lacks = missing[0] if gaps.strict or _PACKAGE not in missing else _PACKAGE
            raise DecoupleError(
                f"{root} is not a PyTorch source tree: it has no {lacks}; name the folder "
                "where version.txt and build_variables.bzl are."
            )
        for name in missing:
            gaps.add(Gap(name, 0, "is not in the tree", "what would be there", (name,)))

    def reporting_to(self, gaps: Gaps) -> Tree:
        """The same tree, whose gaps are reported somewhere else."""
        other = copy.copy(self)
        other.gaps = gaps
        return other

    @functools.cached_property
    def version(self) -> str:
        """The release that version.txt names, such as "2.6.0"; `UNKNOWN` where it names none."""
        if not self.has("version.txt"):
            return UNKNOWN
        found = _RELEASE.match(self.read_text("version.txt"))
        if found is None:
            problem = "names no release such as 2.6.0"
            self.gaps.add(Gap("version.txt", 1, problem, "the version"))
            return UNKNOWN
        return found[1]

    @functools.cached_property
    def files(self) -> tuple[str, ...]:
        """All files of the tree, sorted, symbolic links included; those to folders are not followed."""
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
                problem = f"cannot be read: {error.strerror}"
                self.gaps.add(Gap(folder or ".", 0, problem, "the folder", (f"{folder}/",)))
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if not entry.name.isprintable():
                    self._report_name(path)
                elif entry.is_symlink():
                    found[path] = True
                elif entry.is_file():
                    found[path] = False
                elif not entry.is_dir():
                    problem = "is neither a file nor a folder; remove it"
                    self.gaps.add(Gap(path, 0, problem, "it", (path,)))
                elif entry.name not in _NOT_SOURCE:
                    waiting.append(path)
        return found

    def _report_name(self, path: str) -> None:
        problem = f"the name {path!a} is not printable UTF-8; rename the file"
        self.gaps.add(Gap("", 0, problem, "the file, which materialize does not copy either"))

    def report_links(self, skipped: tuple[str, ...] = ()) -> None:
        """Reports links behind which there is code that no other path of the tree has.

        Args:
            skipped: what paths begin with that nobody looks at.
        """
        for path in sorted(self.links):
            problem = "" if path.startswith(skipped) else self._lost_link(path)
            if problem:
                self.gaps.add(Gap(path, 0, problem, "what it leads to", (path,)))

    def _lost_link(self, path: str) -> str:
        """What is wrong with a link; empty where nothing is."""
        try:
            target = (self.root / path).resolve(strict=True)
        except FileNotFoundError:
            # Settings of other tools have names that begin so.
            hidden = posixpath.basename(path).startswith(".")
            return "" if hidden else "is a link that leads to nothing"
        except (OSError, RuntimeError):
            return "is a link that leads in a circle"
        if target == self.root:
            return "is a link that leads to the tree itself"
        return "" if target.is_relative_to(self.root) else "is a link that leads out of the tree"

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

    def read_bytes(self, path: str, affects: Iterable[str] = ()) -> bytes:
        """The content of a source; empty where it cannot be read, which is reported.

        Args:
            path: the file.
            affects: what is incomplete without it; the file itself, where nothing is named.
        """
        try:
            with (self.root / path).open("rb") as file:
                content = file.read(LONGEST_FILE + 1)
        except OSError as error:
            problem = f"cannot be read: {error.strerror}"
        else:
            if len(content) > LONGEST_FILE:
                problem = f"has more than {LONGEST_FILE} bytes, which no source has"
            elif len(content) > LONGEST_LINE and max(map(len, content.split(b"\n"))) > LONGEST_LINE:
                problem = f"has a line of more than {LONGEST_LINE} bytes, which no source has"
            else:
                return content
        self.gaps.add(Gap(path, 0, problem, "the file", tuple(affects) or (path,)))
        return b""

    def read_text(self, path: str, affects: Iterable[str] = ()) -> str:
        """The text of a file, its line ends as they are; see `read_bytes` and `decode`."""
        return decode(self.read_bytes(path, affects), path, self.gaps)


def decode(content: bytes, path: str, gaps: Gaps = STRICT) -> str:
    """The text of a file's content.

    A byte that is not UTF-8 is reported. It becomes one character that stands for it ("surrogateescape"), so that the
    same bytes can be written again.

    Args:
        content: the bytes of the file.
        path: the file, for the report.
        gaps: takes the report.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        line = content.count(b"\n", 0, error.start) + 1
        gaps.add(Gap(path, line, problem, "what the byte stands for", (path,)))
        return content.decode("utf-8", "surrogateescape")
