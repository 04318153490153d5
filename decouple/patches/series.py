"""The series: a folder with a file `series` that names patches in their order, one a line."""

from __future__ import annotations

import dataclasses
import enum
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterable, Sequence

from decouple.errors import DecoupleError
from decouple.patches import hunks, unified_diff
from decouple.patches.hunks import Misfit
from decouple.patches.unified_diff import Patch
from decouple.tree import decode


class State(enum.StrEnum):
    """How a patch stands to a tree."""

    APPLIED = "applied"
    APPLIES = "applies"
    BROKEN = "does not apply"


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """A patch of the series, and how it stands to a tree."""

    patch: Patch
    state: State
    misfit: Misfit | None = None


def read_series(series: pathlib.Path) -> list[Patch]:
    """Reads the patches that a series names.

    Args:
        series: the file `series`; # begins a comment.

    Raises:
        DecoupleError: the series or a patch cannot be read, or a patch gives no reason.
    """
    patches = []
    for number, line in enumerate(_read(series).splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name:
            continue
        path = series.parent / name
        if not path.is_file():
            raise DecoupleError(
                f"names {name}, which is not beside it.", path=str(series), line=number
            )
        patch = unified_diff.parse(_read(path), name)
        if not patch.subject:
            raise DecoupleError(
                "gives no reason; write it, with its upstream link, before the first ---.",
                path=name,
                line=1,
            )
        patches.append(patch)
    return patches


class PatchedTree:
    """The files of a tree with patches put in and taken out, in memory until `write`."""

    def __init__(self, root: pathlib.Path) -> None:
        """A tree that nothing has been done to.

        Args:
            root: its folder.
        """
        self._root = root
        self._files: dict[str, str | None] = {}

    def copy(self) -> PatchedTree:
        """A tree that can be tried on."""
        other = PatchedTree(self._root)
        other._files = dict(self._files)
        return other

    def put_in(self, patch: Patch) -> Misfit | None:
        """Applies a patch as a whole, or not at all; returns what does not fit."""
        done: dict[str, str | None] = {}
        for diff in patch.files:
            content = done[diff.path] if diff.path in done else self._content(diff.path)
            result = hunks.apply_file(content, diff)
            if isinstance(result, Misfit):
                return result
            if diff.renamed:
                there = done.get(diff.renamed, self._content(diff.renamed))
                if there is not None:
                    return Misfit(diff.renamed, None, 0, "that there is none", "the file is there")
                done[diff.path] = None
            done[diff.new_path] = result
        self._files.update(done)
        return None

    def write(self) -> list[str]:
        """Writes all changed files, each in one step, or none; returns their paths.

        Raises:
            DecoupleError: a file cannot be written; those before it are as they were.
        """
        before: dict[str, str | None] = {}
        for path, content in sorted(self._files.items()):
            present = _existing(self._root / path)
            if content == present:
                continue
            try:
                _put(self._root / path, content)
            except OSError as error:
                for written, old in before.items():
                    _put(self._root / written, old)
                raise DecoupleError(
                    f"cannot be written: {error.strerror}; nothing was changed.", path=path
                ) from None
            before[path] = present
        return list(before)

    def _content(self, path: str) -> str | None:
        if path not in self._files:
            self._files[path] = _existing(self._root / path)
        return self._files[path]


def standings(root: pathlib.Path, patches: Sequence[Patch]) -> list[Standing]:
    """How each patch of a series stands to a tree.

    The first patches that can be taken back one after the other, from the last to the first, are applied.

    Args:
        root: the tree.
        patches: the series.
    """
    applied = _applied(root, patches)
    tree = PatchedTree(root)
    found = [Standing(patch, State.APPLIED) for patch in patches[:applied]]
    for patch in patches[applied:]:
        misfit = tree.put_in(patch)
        state = State.APPLIES if misfit is None else State.BROKEN
        found.append(Standing(patch, state, misfit))
    return found


def apply(root: pathlib.Path, patches: Sequence[Patch]) -> tuple[list[str], list[str]]:
    """Applies all patches that are not applied yet, or changes nothing.

    Returns:
        The names of the patches and the files that changed.

    Raises:
        DecoupleError: a patch does not apply; it names the hunk and what broke it.
    """
    pending = patches[_applied(root, patches) :]
    return [patch.name for patch in pending], _write(root, pending, "")


def reverse(root: pathlib.Path, patches: Sequence[Patch]) -> tuple[list[str], list[str]]:
    """Takes all applied patches back, or changes nothing; returns as `apply`."""
    applied = patches[: _applied(root, patches)]
    backwards = [patch.reversed() for patch in reversed(applied)]
    return [patch.name for patch in backwards], _write(root, backwards, " in reverse")


def upstream_change(root: pathlib.Path, misfit: Misfit) -> str:
    """The commit that wrote the line that a hunk stumbles over; empty where git does not know."""
    if misfit.line == 0 or not (root / ".git").exists():
        return ""
    place = f"{misfit.line},{misfit.line}"
    command = ["git", "-C", str(root), "blame", "--porcelain", "-L", place, "--", misfit.path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    commit = done.stdout.split(" ", 1)[0]
    summary = [line for line in done.stdout.splitlines() if line.startswith("summary ")]
    if not summary or not commit.strip("0"):
        return ""
    return f"{commit[:12]} {summary[0].removeprefix('summary ')}"


def explain(root: pathlib.Path, patch: Patch, misfit: Misfit) -> str:
    """One line that says why a patch does not apply."""
    change = upstream_change(root, misfit)
    return f"{patch.name}: {misfit}{f', since {change}' if change else ''}"


def _applied(root: pathlib.Path, patches: Sequence[Patch]) -> int:
    """How many patches from the front are in the tree."""
    for count in range(len(patches), 0, -1):
        tree = PatchedTree(root)
        if all(tree.put_in(patch.reversed()) is None for patch in reversed(patches[:count])):
            return count
    return 0


def _write(root: pathlib.Path, patches: Iterable[Patch], how: str) -> list[str]:
    tree = PatchedTree(root)
    for patch in patches:
        misfit = tree.put_in(patch)
        if misfit is not None:
            raise DecoupleError(
                f"{explain(root, patch, misfit)}; it does not apply{how}, nothing was changed."
            )
    return tree.write()


def _read(path: pathlib.Path) -> str:
    try:
        return decode(path.read_bytes(), str(path))
    except OSError as error:
        raise DecoupleError(f"cannot be read: {error.strerror}.", path=str(path)) from None


def _existing(path: pathlib.Path) -> str | None:
    return _read(path) if path.is_file() else None


def _put(path: pathlib.Path, content: str | None) -> None:
    """Gives a file a content; None deletes it."""
    if content is None:
        path.unlink()
    else:
        _replace(path, content)


def _replace(path: pathlib.Path, content: str) -> None:
    """Writes a file beside and moves it there, so that it is never half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
