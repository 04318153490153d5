"""The series: a folder with a file `series` that names patches in their order, one a line.

`git apply` does the work; here is what it does not say: how each patch of a series stands to a tree, and which line of
the tree a patch stumbles over.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import os
import pathlib
import re
import subprocess
from collections.abc import Sequence

from decouple.errors import DecoupleError

_WINDOW = 400  # lines around the expected place in which a changed one is looked for
_MISFIT = re.compile(
    r"while searching for:\n(.*?)\n?\nerror: patch failed: (.+):(\d+)\n", re.DOTALL
)
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class State(enum.StrEnum):
    """How a patch stands to a tree."""

    APPLIED = "applied"
    APPLIES = "applies"
    BROKEN = "does not apply"


@dataclasses.dataclass(frozen=True, slots=True)
class Patch:
    """A patch file: why, and what."""

    name: str
    subject: str
    """The first line of the reason, without the words that `git format-patch` puts before it."""
    text: bytes
    files: tuple[str, ...]
    """The files afterwards; of one that is deleted, the file before."""


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """A patch of the series, and how it stands to a tree."""

    patch: Patch
    state: State
    problem: str = ""
    """What stands in the way of a patch that does not apply, in one line."""


def read_series(series: pathlib.Path) -> list[Patch]:
    """Reads the patches that a series names.

    Args:
        series: the file `series`; # begins a comment.

    Raises:
        DecoupleError: the series or a patch cannot be read, a patch gives no reason, or git is not there.
    """
    patches = []
    for number, line in enumerate(_read(series).decode("utf-8", "replace").splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name:
            continue
        path = series.parent / name
        if not path.is_file():
            raise DecoupleError(
                f"names {name}, which is not beside it.", path=str(series), line=number
            )
        patches.append(_patch(name, _read(path)))
    return patches


def standings(root: pathlib.Path, patches: Sequence[Patch]) -> list[Standing]:
    """How each patch of a series stands to a tree.

    The first patches that can be taken back, from the last to the first, are applied.

    Args:
        root: the tree.
        patches: the series.
    """
    applied = _applied(root, patches)
    found = [Standing(patch, State.APPLIED) for patch in patches[:applied]]
    fitting: list[Patch] = []
    for patch in patches[applied:]:
        status, complaint = _git_apply(root, [*fitting, patch], "--check", "--verbose")
        if status:
            found.append(Standing(patch, State.BROKEN, _problem(root, patch, complaint)))
        else:
            fitting.append(patch)
            found.append(Standing(patch, State.APPLIES))
    return found


def apply(root: pathlib.Path, patches: Sequence[Patch]) -> tuple[list[str], list[str]]:
    """Applies all patches that are not applied yet; changes nothing where one of them does not apply.

    Returns:
        The names of the patches and the files that changed.

    Raises:
        DecoupleError: a patch does not apply; it names the hunk and what broke it.
    """
    found = standings(root, patches)
    for standing in found:
        if standing.state is State.BROKEN:
            problem = f"{standing.patch.name}: {standing.problem}"
            raise DecoupleError(f"{problem}; it does not apply, nothing was changed.")
    return _change(root, [one.patch for one in found if one.state is State.APPLIES])


def reverse(root: pathlib.Path, patches: Sequence[Patch]) -> tuple[list[str], list[str]]:
    """Takes all applied patches back; returns as `apply`."""
    return _change(root, patches[: _applied(root, patches)][::-1], "--reverse")


def _patch(name: str, text: bytes) -> Patch:
    """A patch, if git can read it and it gives a reason."""
    status, output = _git(["apply", "--numstat", "-z"], text)
    if status:
        raise DecoupleError(_first_error(output), path=name)
    _check_ends(name, text)
    head = re.split(rb"^(?:diff --git |--- )", text, maxsplit=1, flags=re.MULTILINE)[0]
    lines = head.decode("utf-8", "replace").splitlines()
    named = [line.removeprefix("Subject:") for line in lines if line.startswith("Subject:")]
    subject = re.sub(r"^\s*\[PATCH[^\]]*\]\s*", "", next(iter(named + lines), "")).strip()
    if not subject:
        raise DecoupleError(
            "gives no reason; write it, with its upstream link, before the first ---.",
            path=name,
            line=1,
        )
    files = tuple(entry.split("\t")[2] for entry in output.split("\0")[:-1])
    return Patch(name, subject, text, files)


def _check_ends(name: str, text: bytes) -> None:
    """Refuses lines of a hunk beyond those that its header counts: git passes over them in silence."""
    old = new = 0
    behind = False  # right behind a hunk
    for number, line in enumerate(text.split(b"\n"), 1):
        kind = line[:1]
        if old > 0 or new > 0:
            old -= kind in (b" ", b"-", b"")
            new -= kind in (b" ", b"+", b"")
        elif header := _HUNK.match(line):
            old, new = (1 if count is None else int(count) for count in header.groups())
            behind = True
        elif behind and kind in (b" ", b"+", b"-") and not line.startswith((b"--- ", b"-- ")):
            raise DecoupleError("the hunk is longer than its header says.", path=name, line=number)
        else:
            behind = behind and kind in (b"", b"\\")


def _applied(root: pathlib.Path, patches: Sequence[Patch]) -> int:
    """How many patches from the front are in the tree."""
    for count in range(len(patches), 0, -1):
        if not _git_apply(root, patches[:count], "--check", "--reverse")[0]:
            return count
    return 0


def _change(
    root: pathlib.Path, patches: Sequence[Patch], *options: str
) -> tuple[list[str], list[str]]:
    """Has git change the tree by patches that were found to fit; returns their names and the files."""
    # One by one: of a file that is made and changed at once, git does not undo the making.
    for patch in patches:
        status, complaint = _git_apply(root, [patch], *options)
        if status:
            raise DecoupleError(_first_error(complaint), path=patch.name)
    files = {file for patch in patches for file in patch.files}
    return [patch.name for patch in patches], sorted(files)


def _git_apply(root: pathlib.Path, patches: Sequence[Patch], *options: str) -> tuple[int, str]:
    """What `git apply` says of patches, one after the other in memory, or makes of one."""
    return _git(["-C", str(root), "apply", *options], b"\n".join(patch.text for patch in patches))


def _git(arguments: Sequence[str], text: bytes) -> tuple[int, str]:
    """The exit status and the output of a `git apply` that no repository and no settings have a say in."""
    settings = {"GIT_DIR": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(
            ["git", *arguments, "--whitespace=nowarn", "-"],
            check=False,
            env={**os.environ, **settings, "LC_ALL": "C"},
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise DecoupleError(f"git cannot be run: {error.strerror}; install it.") from None
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _problem(root: pathlib.Path, patch: Patch, complaint: str) -> str:
    """Why a patch does not apply: of a hunk, the line of the tree that it does not expect, and who wrote that."""
    misfit = _MISFIT.search(complaint)
    if misfit is None or not (root / misfit[2]).is_file():
        return _first_error(complaint)
    wanted, path, first = misfit[1].split("\n"), misfit[2], int(misfit[3]) - 1
    lines = _read(root / path).decode("utf-8", "replace").removesuffix("\n").split("\n")
    begin = max(first - _WINDOW, 0)
    window = lines[begin : first + _WINDOW]
    # Where most of the hunk still stands, the first line of it that differs there.
    anchor = difflib.SequenceMatcher(None, window, wanted, autojunk=False).find_longest_match()
    start = begin + anchor.a - anchor.b if anchor.size else first
    for at, line in enumerate(wanted, start):
        present = lines[at] if 0 <= at < len(lines) else None
        if present != line:
            place = f"{path}:{max(at, 0) + 1}: {_hunk(patch, path, first + 1)}"
            found = "no such line" if present is None else _quoted(present)
            since = _commit(root, path, at + 1)
            return f"{place} expects {_quoted(line)}, and the tree has {found}{since}"
    return _first_error(complaint)


def _hunk(patch: Patch, path: str, line: int) -> str:
    """The hunk of a file that begins at a line, by its number and its header."""
    file, number = "", 0
    for text in patch.text.decode("utf-8", "replace").splitlines():
        if text.startswith("--- "):
            file, number = text, 0
        number += text.startswith("@@ ")
        if file.partition("\t")[0].endswith(path) and re.match(rf"@@ -{line}\D", text):
            return f"hunk {number} ({text})"
    return "a hunk"


def _commit(root: pathlib.Path, path: str, line: int) -> str:
    """The commit that wrote a line, as the end of a sentence; empty where git does not know."""
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "blame", "--porcelain", "-L", f"{line},{line}", "--", path]
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    commit = done.stdout.split(" ", 1)[0]
    summary = re.search(r"^summary (.*)", done.stdout, re.MULTILINE)
    return f", since {commit[:12]} {summary[1]}" if summary and commit.strip("0") else ""


def _quoted(line: str) -> str:
    return f'"{line.strip()}"' if line.strip() else "an empty line"


def _first_error(complaint: str) -> str:
    """What git has against a patch, in one line."""
    error = re.search(r"^(?:error|fatal): (.*)", complaint, re.MULTILINE)
    return error[1] if error else "git does not apply it"


def _read(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DecoupleError(f"cannot be read: {error.strerror}.", path=str(path)) from None
