"""Parses Python, and what has Python's syntax, so that one statement that is broken costs no more than itself."""

from __future__ import annotations

import ast
import dataclasses
import re
import warnings
from collections.abc import Sequence

# What a statement at the top of a module begins with; what continues one is not among it.
_START = re.compile(r"(?!(?:else|elif|except|finally)\b)[A-Za-z_@]")
_NAME = re.compile(r"(?:async\s+)?(?:def\s+|class\s+)?([A-Za-z_]\w*)\s*(?:[(:,]|[-+*/%|&]?=)")
# A line that looks like the top of a module may be in a text of several lines: that many are tried with what follows.
_MOST_JOINED = 8
_FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclasses.dataclass(frozen=True, slots=True)
class Lost:
    """Lines that cannot be parsed."""

    line: int
    last_line: int
    problem_line: int
    problem: str
    names: tuple[str, ...]
    """What they seem to define."""


def parse(text: str) -> list[ast.stmt | Lost]:
    """The statements at the top of a module, in order, with what stands between them and cannot be parsed.

    Args:
        text: the module.
    """
    # What stands for bytes that are not UTF-8 cannot be parsed.
    text = text.removeprefix("\ufeff").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        return [*_parsed(text)]
    except _FAILURES:
        lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _START.match(line)]
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
    starts.append(len(lines))
    found: list[ast.stmt | Lost] = []
    position = 0
    while position < len(starts) - 1:
        statements, position = _piece(lines, starts, position)
        for statement in statements:
            previous = found[-1] if found else None
            if isinstance(statement, Lost) and isinstance(previous, Lost):
                found[-1] = dataclasses.replace(
                    previous,
                    last_line=statement.last_line,
                    names=tuple(dict.fromkeys([*previous.names, *statement.names])),
                )
            else:
                found.append(statement)
    if not any(isinstance(entry, Lost) for entry in found):
        # Each piece by itself is fine, all together are not.
        found.insert(0, Lost(1, 1, 1, "the file cannot be parsed as a whole", ()))
    return found


def _parsed(text: str) -> list[ast.stmt]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text).body


def _piece(
    lines: Sequence[str], starts: Sequence[int], position: int
) -> tuple[Sequence[ast.stmt | Lost], int]:
    """The statements from one start to the next, or to a later one where that is needed."""
    first = starts[position]
    problem: Lost | None = None
    for last in range(position + 1, min(position + _MOST_JOINED, len(starts) - 1) + 1):
        piece = lines[first : starts[last]]
        try:
            statements = _parsed("\n".join(piece))
        except _FAILURES as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error) or "too large"
            if problem is None:
                line = (error.lineno or 1) if isinstance(error, SyntaxError) else 1
                names = tuple(match[1] for match in [_NAME.match(piece[0])] if match)
                problem = Lost(first + 1, starts[last], first + line, reason, names)
            if "closed" not in reason and "unterminated" not in reason and "EOF" not in reason:
                break
            continue
        for statement in statements:
            ast.increment_lineno(statement, first)
        return statements, last
    return [problem] if problem else [], position + 1
