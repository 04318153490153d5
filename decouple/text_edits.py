"""Replacing pieces of a text, and taking the replacements back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters [start, end) of a text, and what comes in their place."""

    start: int
    end: int
    replacement: str = ""


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
