"""Reads the arguments of a call from tokens."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Token

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BLANK = SILENT - {Kind.COMMENT}
_CHANGING = frozenset({"++", "--", "="})
# Names before a bracket that call nothing.
_OPERATORS = frozenset(
    {"sizeof", "alignof", "decltype", "int", "size_t", "int64_t", "unsigned", "long", "float"}
)

Ranges = tuple[tuple[int, int], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call.

    Attributes:
        ranges: of tokens, from and to, one an argument.
        end: the token behind the closing bracket.
        difficulty: what stands in them that cannot be moved; empty if nothing does.
        tokens: of the whole text.
    """

    ranges: Ranges
    end: int
    difficulty: str
    tokens: Sequence[Token]

    def may_change(self, number: int) -> bool:
        """Whether evaluating an argument twice may be something else than once."""
        begin, end = self.ranges[number]
        inside = [token for token in self.tokens[begin:end] if token.kind not in SILENT]
        for before, token in zip([None, *inside], inside, strict=False):
            if token.kind is not Kind.PUNCTUATOR:
                continue
            if token.text in _CHANGING or token.text in ("{", "[") and before is None:
                return True
            if token.text.endswith("=") and token.text[0] not in "=!<>":
                return True
            if token.text == "(" and _is_function(before):
                return True
        return False


def read_arguments(tokens: Sequence[Token], index: int, end: int) -> Arguments | None:
    """Reads the arguments behind a name.

    Args:
        tokens: of the whole text.
        index: the token behind the name.
        end: where to stop.

    Returns:
        The arguments; None where there is no call, or where its bracket does not end.
    """
    while index < end and tokens[index].kind in SILENT:
        index += 1
    if index >= end or tokens[index].text != "(":
        return None
    found = split(tokens, index + 1, end, ")")
    if found is None:
        return None
    ranges, after = found
    return Arguments(ranges, after, _difficulty(tokens[index:after]), tokens)


def split(tokens: Sequence[Token], begin: int, end: int, closing: str) -> tuple[Ranges, int] | None:
    """Splits tokens at the commas that are in no brackets.

    Args:
        tokens: of the whole text.
        begin: the first token.
        end: where to stop.
        closing: the punctuator that ends them.

    Returns:
        The ranges between the commas, without blanks at their ends, and the token behind the closing
        one; None where it does not come or brackets do not match.
    """
    ranges: list[tuple[int, int]] = []
    open_brackets = [closing]
    for place in range(begin, end):
        token = tokens[place]
        if token.kind is not Kind.PUNCTUATOR:
            continue
        if token.text == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                if ranges or _is_filled(tokens[begin:place]):
                    ranges.append(_trimmed(tokens, begin, place))
                return tuple(ranges), place + 1
        elif token.text in _CLOSING:
            open_brackets.append(_CLOSING[token.text])
        elif token.text in _CLOSING.values() or token.text == ";" and len(open_brackets) == 1:
            return None
        elif token.text == "," and len(open_brackets) == 1:
            ranges.append(_trimmed(tokens, begin, place))
            begin = place + 1
    return None


def _difficulty(tokens: Sequence[Token]) -> str:
    """What among the tokens of a call cannot be moved; empty if nothing."""
    directive = tokens[0].directive
    if any(token.directive != directive or token.text in ("#", "%:") for token in tokens):
        return "a directive stands among its arguments"
    if any(token.kind is Kind.COMMENT and token.text.startswith("//") for token in tokens):
        return "a // comment stands among its arguments"
    return ""


def _is_function(token: Token | None) -> bool:
    """Whether a bracket behind a token calls something."""
    if token is None or token.kind is not Kind.IDENTIFIER:
        return False
    return token.spelling not in _OPERATORS


def _trimmed(tokens: Sequence[Token], begin: int, end: int) -> tuple[int, int]:
    """A range without the blanks and splices at its ends."""
    while begin < end and tokens[begin].kind in _BLANK:
        begin += 1
    while begin < end and tokens[end - 1].kind in _BLANK:
        end -= 1
    return begin, end


def _is_filled(tokens: Sequence[Token]) -> bool:
    return any(token.kind not in SILENT for token in tokens)
