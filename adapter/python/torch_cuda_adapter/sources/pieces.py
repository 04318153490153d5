"""Pieces of a translation, each with the tokens of the source in whose place it stands.

A rule's template has places for arguments. In the call that it makes, an argument may come twice, or
not at all; one with an effect is evaluated once all the same:

    puts(getError(f()))     puts(((void)(f()), recentError()))
    fill(p, g())            [&](auto&& argument_2) { return fill(p, argument_2, 0, argument_2); }(g())
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Piece:
    """A text of the translation.

    Attributes:
        text: what is written.
        origin: the indices of the tokens in whose place it stands; none for what a rule adds.
    """

    text: str
    origin: Sequence[int] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """What comes into a template in the place of one name in braces.

    Attributes:
        pieces: its translation.
        has_effect: whether it has to be evaluated once, or may have to be.
        is_expression: whether it can be written in another place.
    """

    pieces: Sequence[Piece]
    has_effect: bool = False
    is_expression: bool = True


def uses(template: str, name: str) -> int:
    """How often a template names an argument."""
    return template.count(f"{{{name}}}")


def refusal(template: str, places: Mapping[str, Place]) -> str:
    """Why a template cannot be filled; empty if it can."""
    for name, place in places.items():
        if place.has_effect and uses(template, name) != 1 and not place.is_expression:
            times = "twice" if uses(template, name) else "never"
            number = int(name) + 1 if name.isdigit() else name
            return f"argument {number} is evaluated {times} in the call that replaces it"
    return ""


def filled(template: str, places: Mapping[str, Place], origin: Sequence[int]) -> list[Piece]:
    """A template with its places filled.

    Args:
        template: such as "fill({0}, {1}, 0, {1})".
        places: by their names.
        origin: of what is the template's own: the call's name and brackets.

    Returns:
        An expression.
    """
    never = [
        name for name, place in places.items() if place.has_effect and not uses(template, name)
    ]
    twice = [
        name for name, place in places.items() if place.has_effect and uses(template, name) > 1
    ]
    bound = {name: [Piece(_parameter(name))] for name in twice}
    found = [Piece("", origin)]
    for number, part in enumerate(re.split(r"\{(\w+)\}", template)):
        found += bound.get(part, places[part].pieces) if number % 2 else [Piece(part)]
    if twice:
        parameters = ", ".join(f"auto&& {_parameter(name)}" for name in twice)
        values = _joined((places[name].pieces for name in twice), ", ")
        found = [Piece(f"[&]({parameters}) {{ return "), *found, Piece("; }("), *values, Piece(")")]
    if never:
        kept = _joined((places[name].pieces for name in never), "), (void)(")
        found = [Piece("((void)("), *kept, Piece("), "), *found, Piece(")")]
    return found


def _parameter(name: str) -> str:
    return f"argument_{int(name) + 1}" if name.isdigit() else name


def _joined(lists: Iterable[Sequence[Piece]], between: str) -> list[Piece]:
    found: list[Piece] = []
    for pieces in lists:
        found += [Piece(between)] if found else []
        found += pieces
    return found
