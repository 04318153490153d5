"""Lines of C++ that name a device: macros, queries, keys, hooks, registrations."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from decouple.cpp import lexer
from decouple.rules.load import CppRule


@dataclasses.dataclass(frozen=True, slots=True)
class Marker:
    """A piece of text that a rule matched."""

    rule: str
    first_line: int
    last_line: int
    text: str


def find(text: str, rules: Sequence[CppRule]) -> list[Marker]:
    """The places that rules match, comments left out; one for each rule and line.

    Args:
        text: a C or C++ source.
        rules: the rules.
    """
    if not any(rule.pattern.search(text) for rule in rules):
        return []
    code = lexer.mask_comments(text)
    lines = lexer.Lines(text)
    found: dict[tuple[int, str], Marker] = {}
    for rule in rules:
        for match in rule.pattern.finditer(code):
            first = lines.number(match.start())
            last = lines.number(match.end() - 1)
            found.setdefault(
                (first, rule.id), Marker(rule.id, first, last, " ".join(match[0].split()))
            )
    return [found[key] for key in sorted(found)]
