"""Reads kernel launches from tokens: `kernel<T><<<grid, block>>>(arguments)`."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from torch_cuda_adapter.sources.calls import (
    Arguments,
    are_counted,
    difficulty,
    read_arguments,
    split,
)
from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Token

_OPENED_BY = {">": 1, ">>": 2, ">>>": 3}


@dataclasses.dataclass(frozen=True, slots=True)
class Launch:
    """One launch.

    Attributes:
        kernel: the tokens of the kernel's name, from and to.
        configuration: the tokens of each value between `<<<` and `>>>`.
        arguments: those of the kernel.
    """

    kernel: tuple[int, int]
    configuration: tuple[tuple[int, int], ...]
    arguments: Arguments


def launches(
    tokens: Sequence[Token], counts: Collection[int], several: AbstractSet[int]
) -> dict[int, Launch]:
    """The launches among the tokens of a text, by the token that each begins with.

    One whose kernel is not a name, whose brackets do not close, or in which something stands that
    cannot be moved, is not among them.

    Args:
        tokens: of the whole text.
        counts: how many values between `<<<` and `>>>` are known.
        several: tokens that may stand for more than one value.
    """
    found = {}
    for index, token in enumerate(tokens):
        if token.text != "<<<" or token.kind is not Kind.PUNCTUATOR:
            continue
        begin = _kernel(tokens, index)
        configuration = split(tokens, index + 1, len(tokens), ">>>")
        if begin is None or configuration is None:
            continue
        readings, end = configuration
        fitting = [reading for reading in readings if len(reading) in counts]
        if len(fitting) != 1 or not are_counted(tokens, index + 1, end - 1, several):
            continue
        arguments = read_arguments(tokens, end, len(tokens))
        if arguments is not None and not difficulty(tokens, begin, arguments.end):
            found[begin] = Launch((begin, index), fitting[0], arguments)
    return found


def _kernel(tokens: Sequence[Token], index: int) -> int | None:
    """Where the name before `<<<` begins: identifiers with `::` between them, and template arguments."""
    begin: int | None = None
    place = _before(tokens, index)
    while place >= 0:
        if tokens[place].text in _OPENED_BY:
            place = _opening(tokens, place)
        if place < 0 or tokens[place].kind is not Kind.IDENTIFIER:
            return begin
        begin = place
        place = _before(tokens, place)
        if place < 0 or tokens[place].text != "::":
            return begin
        begin = place
        place = _before(tokens, place)
    return begin


def _opening(tokens: Sequence[Token], place: int) -> int:
    """The token before the `<` that opens what closes at a place; -1 where there is none."""
    depth = 0
    while place >= 0:
        text = tokens[place].text if tokens[place].kind is Kind.PUNCTUATOR else ""
        depth += _OPENED_BY.get(text, 0)
        depth -= text == "<"
        if text in (";", "{", "}"):
            return -1
        if depth == 0:
            return _before(tokens, place)
        place -= 1
    return -1


def _before(tokens: Sequence[Token], index: int) -> int:
    index -= 1
    while index >= 0 and tokens[index].kind in SILENT:
        index -= 1
    return index
