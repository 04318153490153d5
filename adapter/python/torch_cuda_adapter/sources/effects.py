"""Finds what has an effect among tokens, or may have one: evaluating it twice or never is not the same.

What is known to have none is listed, and all else has one: names, literals, arithmetic, comparisons,
members, casts to types that are known, and what `sizeof` asks. A subscript may insert (`std::map`),
and a bracket behind anything that is no known type calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Token

_WORDS = frozenset(
    {
        *("new", "delete", "throw", "co_await", "co_yield", "asm", "__asm__", "__asm"),
        *("and_eq", "or_eq", "xor_eq"),
    }
)
_CHANGING = frozenset({"=", "++", "--", "##", "%:%:", "{", "<%", "[", "<:", "<<<"})
_COMPARING = frozenset({"==", "!=", "<=", ">="})
TYPES = frozenset(
    {
        *("auto", "bool", "char", "const", "double", "float", "int", "long", "short", "signed"),
        *("struct", "typename", "unsigned", "void", "volatile"),
        *("intptr_t", "ptrdiff_t", "size_t", "ssize_t", "uintptr_t"),
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    }
)
"""Words that a type is made of, whatever the program defines."""

_ASKING = frozenset({"sizeof", "alignof", "decltype", "noexcept"})
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
_IN_TYPES = frozenset({"*", "&", "&&", "::", "<", ">"})
_OPENED_BY = {")": "(", "]": "[", "}": "{", ":>": "<:", "%>": "<%"}
_ANGLES = {">": 1, ">>": 2, ">>>": 3}


def effects(
    tokens: Sequence[Token], begin: int, end: int, opaque: AbstractSet[int] = frozenset()
) -> list[int]:
    """The tokens of a range that have an effect, or may have one.

    Args:
        tokens: of the whole text.
        begin: the first token.
        end: where to stop.
        opaque: names of macros and their parameters, behind which an effect may stand.

    Returns:
        The indices; for a call, that of its bracket.
    """
    places = [index for index in range(begin, end) if tokens[index].kind not in SILENT]
    inside = [tokens[index] for index in places]
    return [
        index
        for number, index in enumerate(places)
        if index in opaque or _has_effect(inside, number)
    ]


def _has_effect(inside: Sequence[Token], number: int) -> bool:
    token = inside[number]
    if token.kind is Kind.IDENTIFIER:
        return token.spelling in _WORDS
    if token.kind is Kind.NUMBER:
        return "_" in token.spelling  # a literal operator
    if token.kind is Kind.STRING:
        return token.spelling[-1] not in "\"'"
    if token.kind is not Kind.PUNCTUATOR:
        return False
    text = token.text
    if text in ("<<", ">>"):
        # A stream's, unless a number is shifted, or by a number.
        beside = inside[max(number - 1, 0) : number + 2]
        return not any(other.kind is Kind.NUMBER for other in beside)
    if text in _CHANGING or (text.endswith("=") and text not in _COMPARING):
        return True
    return text == "(" and _is_call(inside, number)


def _is_call(inside: Sequence[Token], number: int) -> bool:
    """Whether a bracket calls something, and is no grouping, no cast and no question."""
    if number == 0:
        return False
    before = inside[number - 1]
    if before.kind is Kind.IDENTIFIER:
        return before.spelling not in TYPES | _ASKING | {"return", "and", "or", "not"}
    if before.text in _ANGLES:
        name = _before_angles(inside, number - 1)
        return name is None or name.spelling not in _CASTS
    if before.text == ")":
        opening = _opening(inside, number - 1)
        return opening is None or not _is_type(inside[opening + 1 : number - 1])
    return before.text in _OPENED_BY or before.kind is Kind.STRING


def _is_type(inside: Sequence[Token]) -> bool:
    """Whether tokens can be nothing but a type."""
    return bool(inside) and all(
        token.spelling in TYPES or token.text in _IN_TYPES or token.spelling == "std"
        for token in inside
    )


def _opening(inside: Sequence[Token], number: int) -> int | None:
    """Where the bracket is that closes at a place."""
    depth = 0
    for place in range(number, -1, -1):
        if inside[place].kind is not Kind.PUNCTUATOR:
            continue
        depth += inside[place].text in _OPENED_BY
        depth -= inside[place].text in _OPENED_BY.values()
        if depth == 0:
            return place
    return None


def _before_angles(inside: Sequence[Token], number: int) -> Token | None:
    """The name before the `<` that closes at a place."""
    depth = 0
    for place in range(number, 0, -1):
        if inside[place].kind is not Kind.PUNCTUATOR:
            continue
        depth += _ANGLES.get(inside[place].text, 0)
        depth -= inside[place].text == "<"
        if depth <= 0:
            return inside[place - 1]
        if inside[place].text in ";{}":
            return None
    return None
