"""Translates architecture guards: `__CUDA_ARCH__ >= 800` and its like."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from torch_cuda_adapter.sources.report import Severity
from torch_cuda_adapter.sources.rules import Architecture
from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Token

# Each comparison as it reads from the other side.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
# What "more than" and "at most" a number become where the next known one stands for it.
_NEXT = {">": ">=", "<=": "<"}
_PRESENCE = frozenset({"ifdef", "ifndef", "elifdef", "elifndef", "undef"})
_BESIDE = "it is compared with nothing whose value is known here"


@dataclasses.dataclass(slots=True)
class Guards:
    """The guards of a text.

    Attributes:
        texts: what comes in the place of a token, by its index.
        doubts: an index, how bad it is, and why.
        count: how often the macro was translated.
    """

    texts: dict[int, str] = dataclasses.field(default_factory=dict)
    doubts: list[tuple[int, Severity, str]] = dataclasses.field(default_factory=list)
    count: int = 0


def translated(tokens: Sequence[Token], architecture: Architecture) -> Guards:
    """Translates the guards among tokens.

    Args:
        tokens: of a whole text.
        architecture: what the platform makes of them.
    """
    found = Guards()
    places = [index for index, token in enumerate(tokens) if token.kind not in SILENT]
    for number, index in enumerate(places):
        token = tokens[index]
        if token.kind is not Kind.IDENTIFIER or token.spelling != architecture.macro:
            continue
        found.count += 1
        found.texts[index] = architecture.target
        after, before = places[number + 1 : number + 3], places[max(number - 2, 0) : number][::-1]
        behind = _compared(tokens, after, found, architecture, from_right=False)
        ahead = _compared(tokens, before, found, architecture, from_right=True)
        if not behind and not ahead and not _is_presence(tokens, token, before):
            found.doubts.append((index, Severity.ASSUMED, _BESIDE))
    return found


def _compared(
    tokens: Sequence[Token],
    places: Sequence[int],
    found: Guards,
    architecture: Architecture,
    *,
    from_right: bool,
) -> bool:
    """Translates the comparison on one side of the macro: an operator, then a number."""
    if len(places) < 2 or tokens[places[0]].text not in _MIRRORED:
        return False
    operator, number = places
    value = re.fullmatch(r"([0-9]+)[uUlL]*", tokens[number].text)
    if value is None or tokens[number].kind is not Kind.NUMBER:
        return False
    sign = tokens[operator].text
    if from_right:
        sign = _MIRRORED[sign]
    wanted = int(value[1])
    target = architecture.value(wanted)
    exact = any(known == wanted for known, _ in architecture.values)
    if target is None or (not exact and sign in ("==", "!=")):
        reason = f"no architecture of the platform stands for {wanted}; the number stays"
        found.doubts.append((number, Severity.UNSUPPORTED, reason))
        return True
    found.texts[number] = str(target)
    if not exact and sign in _NEXT:
        sign = _NEXT[sign]
        found.texts[operator] = _MIRRORED[sign] if from_right else sign
    return True


def _is_presence(tokens: Sequence[Token], token: Token, before: Sequence[int]) -> bool:
    """Whether only the presence of the macro is asked for."""
    return token.directive in _PRESENCE or "defined" in [tokens[p].spelling for p in before]
