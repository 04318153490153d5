"""The blocks of code in the guide's chapters."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

HERE = pathlib.Path(__file__).parent
LANGUAGES = ("en", "zh")

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        language: the first word behind the fence, such as "python"; may be empty.
        what: the other words: "run" for a program, "file=PATH" for a part of a file.
        text: with a line break at its end.
    """

    language: str
    what: tuple[str, ...]
    text: str

    @property
    def file(self) -> str | None:
        """The file that it is a part of."""
        return next((word[5:] for word in self.what if word.startswith("file=")), None)


def chapters(language: str) -> dict[str, str]:
    """The texts of a language's chapters by their names."""
    paths = sorted((HERE / language).glob("*.md"))
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


def blocks(chapter: str) -> Iterator[Block]:
    """The blocks of a chapter, which begin and end at the beginning of a line."""
    for match in _FENCE.finditer(chapter):
        language, *what = match["info"].split() or [""]
        yield Block(language, tuple(what), match["text"])
