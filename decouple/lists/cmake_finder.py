"""Finds the places of a CMake file that name a device: if() on its variables, and commands outside of these."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence

from decouple.gaps import STRICT, Gaps
from decouple.lists.cmake_blocks import Block, Item, nest
from decouple.lists.cmake_syntax import Command, commands
from decouple.rules.load import TextRule

GUARD = ""
"""The rule of an if() on one of the device's variables."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A place that a rule matched, or a guard."""

    rule: str
    """Name of the rule, or `GUARD`."""
    first_line: int
    last_line: int
    text: str
    """The command as far as it matters."""


def find(
    text: str,
    rules: Sequence[TextRule],
    variables: Collection[str],
    path: str,
    gaps: Gaps = STRICT,
) -> list[Place]:
    """The places of a CMake file that name a device, in order.

    Args:
        text: the file.
        rules: what is looked for in a command's name and arguments.
        variables: an if() or elseif() on one of them is a guard: all lines up to the next clause.
        path: the file, for messages.
        gaps: takes what is not CMake.
    """
    items = nest(commands(text.removeprefix("\ufeff"), path, gaps), path, gaps)
    return sorted(
        _places(items, rules, variables), key=lambda place: (place.first_line, place.rule)
    )


def _places(
    items: Sequence[Item], rules: Sequence[TextRule], variables: Collection[str]
) -> Iterator[Place]:
    for item in items:
        if not isinstance(item, Block):
            yield from _matches(item, rules)
            continue
        for clause, body in item.bodies:
            words = [argument.text for argument in clause.arguments]
            if item.head.name == "if" and any(word in variables for word in words):
                last = _last_line(body[-1]) if body else clause.last_line
                shown = f"{clause.name}({' '.join(words)})"
                yield Place(GUARD, clause.line, last, shown)
                continue
            yield from _matches(clause, rules)
            yield from _places(body, rules, variables)


def _matches(command: Command, rules: Sequence[TextRule]) -> Iterator[Place]:
    words = [command.name, *(argument.text for argument in command.arguments)]
    for rule in rules:
        matched = next((word for word in words if rule.pattern.search(word)), None)
        if matched is not None:
            shown = f"{command.name}(… {matched.strip()} …)" if matched != command.name else matched
            yield Place(rule.id, command.line, command.last_line, " ".join(shown.split()))


def _last_line(item: Item) -> int:
    if isinstance(item, Block):
        clause, body = item.bodies[-1]
        return _last_line(body[-1]) if body else clause.last_line
    return item.last_line
