"""Lines of C++ that name a device: macros, queries, keys, hooks, registrations."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from decouple.cpp import lexer
from decouple.rules.load import TextRule

_WORD_BEFORE = re.compile(r"\w+\Z")
_LONGEST_WORD = 100


@dataclasses.dataclass(frozen=True, slots=True)
class Marker:
    """A piece of text that a rule matched."""

    rule: str
    first_line: int
    last_line: int
    text: str


def find(text: str, rules: Sequence[TextRule]) -> list[Marker]:
    """The places that rules match, one for each rule and line.

    Comments are left out, and string literals too where a rule is not about them.

    Args:
        text: a C or C++ source.
        rules: the rules.
    """
    with_strings = lexer.mask_comments(text)
    without_strings = lexer.mask(text)
    lines = lexer.Lines(text)
    found: dict[tuple[int, str], Marker] = {}
    matched: set[int] = set()
    for rule in rules:
        before = frozenset(matched)
        code = with_strings if rule.in_strings else without_strings
        for match in rule.pattern.finditer(code):
            first = lines.number(match.start())
            last = lines.number(max(match.start(), match.end() - 1))
            if rule.otherwise and first in before:
                continue
            matched.update(range(first, last + 1))
            found.setdefault((first, rule.id), Marker(rule.id, first, last, _shown(code, match)))
    return [found[key] for key in sorted(found)]


def _shown(code: str, match: re.Match[str]) -> str:
    """What matched, from the start of its first word, on one line."""
    word = _WORD_BEFORE.search(code, max(0, match.start() - _LONGEST_WORD), match.start())
    begins_in_word = re.match(r"\w", match[0]) is not None
    return " ".join(((word[0] if word and begins_in_word else "") + match[0]).split())
