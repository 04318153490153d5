"""Replacing pieces of a text, and taking the replacements back."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Iterable, Sequence


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters [start, end) of a text, and what comes in their place."""

    start: int
    end: int
    replacement: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class LineChange:
    """Whole lines that replace others."""

    first_line: int
    """First line of the original that is replaced, from 1; where only lines are added, the one behind them."""
    old: tuple[str, ...]
    """The lines that go, with their ends."""
    new: tuple[str, ...]


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made.

    Raises:
        ValueError: two edits overlap, or one is outside of the text.
    """
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits):
        if edit.start < position or edit.end > len(text) or edit.end < edit.start:
            raise ValueError(f"the edit of [{edit.start}, {edit.end}) overlaps or is outside.")
        pieces += (text[position : edit.start], edit.replacement)
        position = edit.end
    return "".join(pieces) + text[position:]


def reverse_edits(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits of the result that give the text back.

    Args:
        text: what `edits` were made for.
        edits: edits that do not overlap.
    """
    reversed_edits = []
    shift = 0
    for edit in sorted(edits):
        start = edit.start + shift
        reversed_edits.append(
            Edit(start, start + len(edit.replacement), text[edit.start : edit.end])
        )
        shift += len(edit.replacement) - (edit.end - edit.start)
    return reversed_edits


def split_lines(text: str) -> list[str]:
    r"""The lines of a text with their ends; only \n ends one, as for git."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def line_changes(text: str, edits: Iterable[Edit]) -> list[LineChange]:
    """The edits as changes of whole lines, in order; those that touch each other's lines are one.

    Args:
        text: what the edits are for.
        edits: edits that do not overlap.
    """
    lines = split_lines(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    changes: list[LineChange] = []
    group: list[Edit] = []
    behind = 0
    for edit in sorted(edits):
        first, after = _touched(starts, edit)
        if group and first >= behind:
            changes += _change(text, lines, starts, group, behind)
            group = []
        group.append(edit)
        behind = max(behind, after)
    if group:
        changes += _change(text, lines, starts, group, behind)
    return changes


def _touched(starts: Sequence[int], edit: Edit) -> tuple[int, int]:
    """Indices of the first line that an edit touches and of the one behind the last."""
    count = len(starts) - 1
    first = min(bisect.bisect_right(starts, edit.start) - 1, max(count - 1, 0))
    last = bisect.bisect_right(starts, edit.end) - 1
    whole_lines = (
        starts[first] == edit.start
        and starts[last] == edit.end
        and (not edit.replacement or edit.replacement.endswith("\n"))
    )
    return first, last if whole_lines else min(last + 1, count)


def _change(
    text: str, lines: Sequence[str], starts: Sequence[int], group: Sequence[Edit], behind: int
) -> list[LineChange]:
    """A group of edits of the lines before `behind` as one change; nothing where they change nothing."""
    first = _touched(starts, group[0])[0]
    begin, end = starts[first], starts[behind]
    inside = [Edit(edit.start - begin, edit.end - begin, edit.replacement) for edit in group]
    new = apply_edits(text[begin:end], inside)
    if new == text[begin:end]:
        return []
    return [LineChange(first + 1, tuple(lines[first:behind]), tuple(split_lines(new)))]
