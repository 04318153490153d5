"""Cuts device code out of a file, and puts it back.

The code goes to a file of its own, piece by piece with its place, so that nothing is lost: what is left and this
file give the original again, byte for byte.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from decouple.cpp.conditions import Macros
from decouple.cpp.regions import device_edits
from decouple.errors import DecoupleError
from decouple.gaps import STRICT, Gaps
from decouple.text_edits import Edit, apply_edits, reverse_edits

_PIECE = re.compile(r"// piece (\d+), line (\d+): (\d+) characters in place of (\d+) at (\d+)\n")


@dataclasses.dataclass(frozen=True, slots=True)
class Cut:
    """A file without its device code."""

    rest: str
    edits: tuple[Edit, ...]
    """What was done to the original."""
    pieces: str
    """The text of the file that takes the code."""


def cut(text: str, macros: Macros, path: str, gaps: Gaps = STRICT) -> Cut | None:
    """Cuts device code out.

    Args:
        text: a C or C++ source.
        macros: the device's macros.
        path: the file, relative to the tree.
        gaps: takes conditionals that are not balanced, and conditions that cannot be read: these stay.

    Returns:
        The parts; None where the file has no device code.
    """
    edits = _joined(device_edits(text, macros, path, gaps))
    if not edits:
        return None
    return Cut(apply_edits(text, edits), tuple(edits), _render(text, edits, path))


def put_back(rest: str, pieces: str) -> str:
    """Makes the original out of the parts of a cut.

    Args:
        rest: what is left of the file.
        pieces: the text of the file that took the code.

    Raises:
        DecoupleError: the two do not belong together.
    """
    edits = []
    position = 0
    while match := _PIECE.search(pieces, position):
        length, replaced, start = int(match[3]), int(match[4]), int(match[5])
        text = pieces[match.end() : match.end() + length]
        if len(text) != length or start + replaced > len(rest):
            raise DecoupleError(f"piece {match[1]} is cut off, or belongs to another file.")
        edits.append(Edit(start, start + replaced, text))
        position = match.end() + length
    return apply_edits(rest, edits)


def _joined(edits: Sequence[Edit]) -> list[Edit]:
    """The edits with those that touch each other as one."""
    joined: list[Edit] = []
    for edit in edits:
        if joined and joined[-1].end == edit.start:
            last = joined.pop()
            edit = Edit(last.start, edit.end, last.replacement + edit.replacement)
        joined.append(edit)
    return joined


def _render(text: str, edits: Sequence[Edit], path: str) -> str:
    """The file that takes the code."""
    lines = [
        f"// Device code of {path}, cut out of it. Each piece is preceded by its line there, its length, and\n",
        "// where it belongs in what is left: how many characters it replaces, and at which.\n",
    ]
    for number, (edit, back) in enumerate(zip(edits, reverse_edits(text, edits), strict=True), 1):
        line = text.count("\n", 0, edit.start) + 1
        piece = back.replacement
        lines.append(
            f"\n// piece {number}, line {line}: {len(piece)} characters in place of "
            f"{back.end - back.start} at {back.start}\n{piece}"
        )
        lines.append("" if piece.endswith("\n") else "\n")
    return "".join(lines)
