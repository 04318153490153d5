"""Putting hunks into a file, and saying what stands in the way of one that does not fit."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence

from decouple.patches.unified_diff import FileDiff, Hunk
from decouple.text_edits import split_lines

_WINDOW = 400  # lines around the expected place in which a changed one is looked for


@dataclasses.dataclass(frozen=True, slots=True)
class Misfit:
    """A hunk that does not apply, and the change of the tree that broke it."""

    path: str
    hunk: Hunk | None
    line: int
    """Where the tree differs, from 1; 0 where the file is not there."""
    expected: str
    found: str

    def __str__(self) -> str:
        """One line for a person."""
        if self.hunk is None:
            return f"{self.path}: {self.found}; the patch needs {self.expected}"
        place = f"{self.path}:{self.line}: hunk {self.hunk.number} ({self.hunk.header})"
        return f"{place} expects {self.expected}, and the tree has {self.found}"


def apply_file(content: str | None, diff: FileDiff) -> str | None | Misfit:
    """What a patch makes of a file.

    Args:
        content: the file; None where there is none.
        diff: the patch's part for it.

    Returns:
        The file afterwards, None where it is deleted, or what does not fit.
    """
    if diff.creates:
        if content is not None:
            return Misfit(diff.path, None, 0, "that there is none", "the file is there")
        return "".join(line for hunk in diff.hunks for line in hunk.new)
    if content is None:
        return Misfit(diff.path, None, 0, "it", "the file is not there")
    lines = split_lines(content)
    if any(not hunk.old for hunk in diff.hunks) and lines:
        return Misfit(diff.path, None, 0, "an empty file", "the file has lines")
    shift = 0
    for hunk in diff.hunks:
        expected = max(hunk.old_line - 1, 0) + shift + (0 if hunk.old else 1)
        at = _find(lines, hunk.old, expected)
        if at is None:
            return _misfit(diff.path, hunk, lines, expected)
        lines[at : at + len(hunk.old)] = hunk.new
        shift = at - (hunk.old_line - 1) + len(hunk.new) - len(hunk.old)
    if diff.deletes:
        return None if not lines else Misfit(diff.path, None, 0, "it gone", "more lines are there")
    return "".join(lines)


def _find(lines: Sequence[str], wanted: Sequence[str], expected: int) -> int | None:
    """The index nearest to `expected` at which `wanted` stands; None where it is nowhere."""
    if not wanted:
        return 0
    first = wanted[0]
    places = [
        at
        for at in range(len(lines) - len(wanted) + 1)
        if lines[at] == first and tuple(lines[at : at + len(wanted)]) == tuple(wanted)
    ]
    return min(places, key=lambda at: abs(at - expected)) if places else None


def _misfit(path: str, hunk: Hunk, lines: Sequence[str], expected: int) -> Misfit:
    """Finds the line that no longer is what the hunk wants."""
    begin = max(expected - _WINDOW, 0)
    window = lines[begin : expected + _WINDOW]
    matcher = difflib.SequenceMatcher(None, window, hunk.old, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        line = min(expected, max(len(lines) - 1, 0))
        found = _quoted(lines[line]) if lines else "an empty file"
        return Misfit(path, hunk, line + 1, _quoted(hunk.old[0]), found)
    # Where most of the hunk still stands, the first line of it that differs there.
    anchor = max(blocks, key=lambda block: block.size)
    start = anchor.a - anchor.b
    for offset, wanted in enumerate(hunk.old):
        at = begin + start + offset
        present = lines[at] if 0 <= at < len(lines) else None
        if present != wanted:
            found = "the end of the file" if present is None else _quoted(present)
            return Misfit(path, hunk, max(at, 0) + 1, _quoted(wanted), found)
    raise AssertionError("a hunk that stands in the file was not found")


def _quoted(line: str) -> str:
    return f'"{line.strip()}"' if line.strip() else "an empty line"
