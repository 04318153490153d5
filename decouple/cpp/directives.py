"""Preprocessing directives and the tree of conditionals ([cpp.cond]), with exact line ranges."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator, Sequence

from decouple.cpp import lexer
from decouple.errors import DecoupleError

# "%:" is the other spelling of "#".
_DIRECTIVE = re.compile(
    r"^(?:\A\ufeff)?(?P<indent>[ \t\f\v\r\x00\x01]*)(?:\#|%:)"
    r"(?P<gap>[ \t\f\v\x00\x01]*)(?P<keyword>[A-Za-z_][A-Za-z_0-9\x01]*)?(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_OPENING = frozenset({"if", "ifdef", "ifndef"})
_MIDDLE = frozenset({"elif", "elifdef", "elifndef", "else"})
_DEEPEST = 100
_CONDITIONAL = _OPENING | _MIDDLE | {"endif"}


@dataclasses.dataclass(frozen=True, slots=True)
class Directive:
    """One directive, a logical line: continuation lines and the comments in it included."""

    keyword: str
    """The name behind "#", such as "ifdef"; empty for a lone "#"."""
    expression: str
    """What follows the keyword, on one line and without comments."""
    first_line: int
    last_line: int
    start: int
    """Offset of the start of its first line."""
    end: int
    """Offset behind the line end of its last line."""
    keyword_start: int
    """Offset of the keyword."""
    expression_start: int
    """Offset of the expression; equal to `expression_end` where there is none."""
    expression_end: int
    """Offset behind the last character of the expression that is no comment."""


@dataclasses.dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a conditional: its directive, and the lines up to the next one."""

    directive: Directive
    first_line: int
    last_line: int
    """Less than `first_line` where the branch has no lines."""
    conditionals: tuple[Conditional, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Conditional:
    """A conditional from #if to #endif."""

    branches: tuple[Branch, ...]
    end: Directive

    @property
    def first_line(self) -> int:
        """The first line of the #if."""
        return self.branches[0].directive.first_line

    @property
    def last_line(self) -> int:
        """The last line of the #endif."""
        return self.end.last_line

    def walk(self) -> Iterator[Conditional]:
        """This conditional and those in it, in the order of their first lines."""
        yield self
        for branch in self.branches:
            for inner in branch.conditionals:
                yield from inner.walk()


@functools.lru_cache(maxsize=2)
def directives(text: str) -> tuple[Directive, ...]:
    """All directives of a text, in order.

    A "#" in a comment, in a string (raw strings included) or behind other tokens starts none.
    """
    masked = lexer.mask(text)
    lines = lexer.Lines(text)
    found = []
    for match in _DIRECTIVE.finditer(masked):
        first, last = lines.number(match.start()), lines.number(match.end())
        begin, finish = match.span("rest")
        pieces = masked[begin:finish]
        begin += len(pieces) - len(pieces.lstrip(" \t\f\v\r\x00\x01"))
        finish = max(begin, begin + len(masked[begin:finish].rstrip(" \t\f\v\r\x00\x01")))
        found.append(
            Directive(
                keyword=(match["keyword"] or "").replace(lexer.SPLICE, ""),
                expression=_clean(text[begin:finish], masked[begin:finish]),
                first_line=first,
                last_line=last,
                start=lines.start(first),
                end=lines.end(last),
                keyword_start=match.end("gap"),
                expression_start=begin,
                expression_end=finish,
            )
        )
    return tuple(found)


def _clean(text: str, masked: str) -> str:
    """An expression without comments and splices; literals as they were written."""
    kept = [
        " " if mask == lexer.GAP else character
        for character, mask in zip(text, masked, strict=True)
        if mask != lexer.SPLICE
    ]
    return " ".join("".join(kept).split())


@dataclasses.dataclass(slots=True)
class _Open:
    """A conditional whose #endif has not come yet."""

    directive: Directive
    done: list[Branch] = dataclasses.field(default_factory=list)
    inner: list[Conditional] = dataclasses.field(default_factory=list)

    def close(self, next_directive: Directive) -> None:
        """Ends the current branch before `next_directive`, which starts the next one."""
        first = self.directive.last_line + 1
        last = next_directive.first_line - 1
        self.done.append(Branch(self.directive, first, last, tuple(self.inner)))
        self.directive = next_directive
        self.inner = []


def conditionals(text: str, path: str) -> tuple[Conditional, ...]:
    """The outermost conditionals of a text, with those in them.

    Args:
        text: a C or C++ source.
        path: the file, for messages.

    Raises:
        DecoupleError: an #if without #endif, or the other way round; it names the line.
    """
    return nest(directives(text), path)


def nest(found: Sequence[Directive], path: str) -> tuple[Conditional, ...]:
    """As `conditionals`, from directives that were read before."""
    outermost: list[Conditional] = []
    stack: list[_Open] = []
    for directive in found:
        if directive.keyword not in _CONDITIONAL:
            continue
        if directive.keyword in _OPENING:
            if len(stack) >= _DEEPEST:
                raise _error(f"#{directive.keyword} is nested too deep", directive, path)
            stack.append(_Open(directive))
            continue
        if not stack:
            raise _error(f"#{directive.keyword} without #if before it", directive, path)
        current = stack[-1]
        if directive.keyword in _MIDDLE:
            if current.directive.keyword == "else":
                raise _error(f"#{directive.keyword} behind #else", directive, path)
            current.close(directive)
            continue
        current.close(directive)
        stack.pop()
        conditional = Conditional(tuple(current.done), directive)
        (stack[-1].inner if stack else outermost).append(conditional)
    if stack:
        opening = stack[-1].done[0].directive if stack[-1].done else stack[-1].directive
        raise _error(f"#{opening.keyword} has no #endif", opening, path)
    return tuple(outermost)


def _error(message: str, directive: Directive, path: str) -> DecoupleError:
    return DecoupleError(
        f"{message}; balance the conditionals of this file.", path=path, line=directive.first_line
    )
