"""Draws a picture of boxes and arrows as SVG from a TOML file.

    ./bazelw run //docs/pictures:update        draws architecture.svg again

The SVG has no background and adapts its colours to a light or a dark page.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

_COLUMN = 160
_ROW = 52
_GAP = 12
_BETWEEN_ROWS = 34

_STYLE = """<style>
  text { font: 14px sans-serif; text-anchor: middle; fill: #1f2328; }
  .note { font-size: 12px; fill: #59636e; }
  rect { fill: #eaf2ff; stroke: #4a7fc1; rx: 6px; }
  path { fill: none; stroke: #59636e; }
  .head { fill: #59636e; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .note { fill: #b1bac4; }
    rect { fill: #16253a; stroke: #6ea8f0; }
    path { stroke: #b1bac4; }
    .head { fill: #b1bac4; }
  }
</style>"""


@dataclass(frozen=True)
class Box:
    """A box of the picture.

    Attributes:
        title: the first line.
        note: the second line.
        left: in pixels, as the others.
        top: the upper edge.
        width: from the left to the right edge.
    """

    title: str
    note: str
    left: int
    top: int
    width: int

    @property
    def right(self) -> int:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> int:
        """The lower edge."""
        return self.top + _ROW


def boxes(picture: Mapping[str, Any]) -> dict[str, Box]:
    """The boxes by their names.

    Args:
        picture: the TOML file.

    Raises:
        KeyError: a box lacks a value.
        ValueError: two boxes have the same name.
    """
    found: dict[str, Box] = {}
    for box in picture["box"]:
        if box["id"] in found:
            raise ValueError(f"two boxes are called {box['id']}")
        found[box["id"]] = Box(
            box["title"],
            box["note"],
            _GAP + box["column"] * _COLUMN,
            _GAP + box["row"] * (_ROW + _BETWEEN_ROWS),
            box["span"] * _COLUMN - _GAP,
        )
    return found


def render(picture: Mapping[str, Any]) -> str:
    """The picture as SVG.

    Args:
        picture: the TOML file.

    Raises:
        KeyError: a value is missing, or an arrow names no box.
        ValueError: an arrow does not lead straight down.
    """
    found = boxes(picture)
    width = picture["columns"] * _COLUMN + _GAP
    height = max(box.bottom for box in found.values()) + _GAP
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', _STYLE]
    for arrow in picture["arrow"]:
        lines += _arrow(arrow["from"], found[arrow["from"]], found[arrow["to"]])
    for box in found.values():
        middle = (box.left + box.right) // 2
        lines += [
            f'<rect x="{box.left}" y="{box.top}" width="{box.width}" height="{_ROW}"/>',
            f'<text x="{middle}" y="{box.top + 22}">{escape(box.title)}</text>',
            f'<text x="{middle}" y="{box.top + 40}" class="note">{escape(box.note)}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def _arrow(name: str, start: Box, end: Box) -> list[str]:
    """An arrow in the middle of what both boxes share from left to right."""
    left, right = max(start.left, end.left), min(start.right, end.right)
    if left >= right or start.bottom >= end.top:
        raise ValueError(f"the arrow from {name} does not lead straight down")
    x, y = (left + right) // 2, end.top
    return [
        f'<path d="M{x} {start.bottom}V{y - 6}"/>',
        f'<path class="head" d="M{x} {y}l-5 -8h10z"/>',
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Draws a picture; returns the exit status."""
    parser = argparse.ArgumentParser(description="Draw a picture as SVG.")
    parser.add_argument("picture", type=pathlib.Path, help="the TOML file")
    options = parser.parse_args(argv)
    workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    source = workspace / options.picture
    picture = tomllib.loads(source.read_text(encoding="utf-8"))
    source.with_suffix(".svg").write_text(render(picture), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
