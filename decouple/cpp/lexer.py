"""Translation phases 1 to 3 of C++, as far as directives need them ([lex.phases]).

A text is masked instead of cut into tokens: comments and literals are overwritten, every offset stays.
"""

from __future__ import annotations

import bisect
import functools
import re

GAP = "\x00"
"""Stands for a character of a comment, line ends included: white space that ends no line."""
SPLICE = "\x01"
"""Stands for a character of a backslash-newline: nothing at all."""
LITERAL = "\x02"
"""Stands for a character inside a string or character literal."""

# A backslash may have blanks behind it: C++23 says so, and GCC and Clang always did.
_SPLICE = r"\\[ \t\f\v]*\r?\n"
_TOKEN = re.compile(
    r"(?P<line>//(?:[^\\\n]|" + _SPLICE + r"|\\)*)"
    r"|(?P<block>/\*.*?(?:\*/|\Z))"
    r'|(?<![A-Za-z0-9_])(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?(?:\)(?P=mark)"|\Z))'
    r'|(?P<string>"(?:[^"\\\n]|' + _SPLICE + r'|\\[^\n]?)*"?)'
    # A number before the quote of a literal: the quotes in 1'000 are no literals.
    r"|(?P<number>(?<![A-Za-z0-9_])[0-9](?:'?[A-Za-z0-9_.])*)"
    r"|(?P<char>'(?:[^'\\\n]|" + _SPLICE + r"|\\[^\n]?)*'?)"
    r"|(?P<splice>" + _SPLICE + r")",
    re.DOTALL,
)
_NOT_LINE_END = re.compile(r"[^\n]")
_LINE_END = re.compile(r"\n")


# A file is looked at several times, one after another.
@functools.lru_cache(maxsize=2)
def _tokens(text: str) -> tuple[tuple[int, int, str], ...]:
    """Start, end and kind of each comment, literal and splice."""
    return tuple(
        (*match.span(), match.lastgroup or "")
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "number"
    )


@functools.lru_cache(maxsize=2)
def mask(text: str) -> str:
    """Overwrites comments, literals and line splices, each character with one, see the constants.

    What is left of a line end ends a logical line.
    """
    pieces = []
    position = 0
    for start, end, kind in _tokens(text):
        pieces.append(text[position:start])
        position = end
        length = end - start
        if kind in ("line", "block"):
            pieces.append(GAP * length)
        elif kind == "splice":
            pieces.append(SPLICE * length)
        else:
            # The quotes stay, so that a literal does not look like nothing.
            quote = "'" if kind == "char" else '"'
            pieces.append((quote + LITERAL * (length - 2) + quote)[:length])
    pieces.append(text[position:])
    return "".join(pieces)


def mask_comments(text: str) -> str:
    """Overwrites comments only, with blanks; line ends stay where they are."""
    pieces = []
    position = 0
    for start, end, kind in _tokens(text):
        if kind in ("line", "block"):
            pieces += [text[position:start], _NOT_LINE_END.sub(" ", text[start:end])]
            position = end
    pieces.append(text[position:])
    return "".join(pieces)


class Lines:
    """Turns offsets of a text into line numbers from 1."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in _LINE_END.finditer(text)]
        self._size = len(text)

    def number(self, offset: int) -> int:
        """The line that the character at `offset` is in; a line end belongs to the line it ends."""
        return bisect.bisect_left(self._ends, offset) + 1

    def start(self, number: int) -> int:
        """The offset at which a line starts."""
        return self._ends[number - 2] + 1 if number > 1 else 0

    def end(self, number: int) -> int:
        """The offset behind a line and its line end."""
        return self._ends[number - 1] + 1 if number <= len(self._ends) else self._size
