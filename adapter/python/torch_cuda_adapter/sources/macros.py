"""What the macros of a text make unknown: names that may stand for an effect, or for several arguments."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from torch_cuda_adapter.sources import families
from torch_cuda_adapter.sources.effects import effects
from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Token

# Names that look like macros, of which other files may make anything.
_LOOKS = re.compile(r"[A-Z_][A-Z0-9_]{2,}")
_KNOWN = frozenset({"NULL", "TRUE", "FALSE"})
_VARIADIC = frozenset({"__VA_ARGS__", "__VA_OPT__"})
_BRACKETS = {
    "(": 1,
    "[": 1,
    "{": 1,
    "<:": 1,
    "<%": 1,
    ")": -1,
    "]": -1,
    "}": -1,
    ":>": -1,
    "%>": -1,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Macros:
    """What is not known of names, by the indices of their tokens.

    Attributes:
        opaque: parameters in a macro's body, for which anything may come, names of macros without
            parameters that have an effect, and names that look like macros of other files.
        several: those that may stand for more than one argument.
    """

    opaque: frozenset[int]
    several: frozenset[int]


@dataclasses.dataclass(frozen=True, slots=True)
class _Definition:
    """One `#define`: its name, its parameters (None where it takes none), and the tokens of its body."""

    name: str
    parameters: frozenset[str] | None
    variadic: str
    begin: int
    end: int


def read(tokens: Sequence[Token]) -> Macros:
    """Reads the macros that a text defines.

    Args:
        tokens: of the whole text.
    """
    opaque: set[int] = set()
    several: set[int] = set()
    plain: list[_Definition] = []
    for definition in _definitions(tokens):
        if definition.parameters is None:
            plain.append(definition)
            continue
        for index in range(definition.begin, definition.end):
            name = tokens[index].spelling
            if tokens[index].kind is not Kind.IDENTIFIER:
                continue
            if name in definition.parameters or name in _VARIADIC:
                opaque.add(index)
            if name in _VARIADIC or name == definition.variadic:
                several.add(index)
    with_effect, with_comma = _unknown(tokens, plain)
    harmless = {macro.name for macro in plain} - with_effect
    for index, token in enumerate(tokens):
        if token.kind is not Kind.IDENTIFIER:
            continue
        if token.spelling in with_effect or _is_unknown(token.spelling, harmless):
            opaque.add(index)
        if token.spelling in with_comma:
            several.add(index)
    return Macros(frozenset(opaque), frozenset(several))


def _is_unknown(name: str, harmless: AbstractSet[str]) -> bool:
    """Whether a name may be a macro's, and nobody knows what it does."""
    if name in harmless or name in _KNOWN or _LOOKS.fullmatch(name) is None:
        return False
    return families.of_name(name) is None


def _unknown(
    tokens: Sequence[Token], plain: Sequence[_Definition]
) -> tuple[frozenset[str], frozenset[str]]:
    """Names of macros without parameters that have an effect, and of those that have a comma."""
    with_effect: set[str] = set()
    with_comma: set[str] = set()
    while True:
        before = len(with_effect) + len(with_comma)
        for macro in plain:
            body = range(macro.begin, macro.end)
            named = {tokens[i].spelling for i in body if tokens[i].kind is Kind.IDENTIFIER}
            if named & with_effect or effects(tokens, macro.begin, macro.end):
                with_effect.add(macro.name)
            if named & with_comma or _has_comma(tokens, body):
                with_comma.add(macro.name)
        if len(with_effect) + len(with_comma) == before:
            return frozenset(with_effect), frozenset(with_comma)


def _has_comma(tokens: Sequence[Token], body: range) -> bool:
    """Whether a comma stands in no bracket."""
    depth = 0
    for index in body:
        if tokens[index].kind is Kind.PUNCTUATOR:
            depth += _BRACKETS.get(tokens[index].text, 0)
            if tokens[index].text == "," and depth == 0:
                return True
    return False


def _definitions(tokens: Sequence[Token]) -> Iterator[_Definition]:
    """The macros that a text defines."""
    for index, token in enumerate(tokens):
        if token.directive != "define" or token.kind is not Kind.IDENTIFIER:
            continue
        before = index - 1
        while before >= 0 and tokens[before].kind in SILENT - {Kind.NEWLINE}:
            before -= 1
        if tokens[before].spelling != "define" or not _is_directive(tokens, before):
            continue
        end = index
        while end < len(tokens) and tokens[end].kind is not Kind.NEWLINE:
            end += 1
        yield _definition(tokens, index, end)


def _is_directive(tokens: Sequence[Token], index: int) -> bool:
    """Whether the word at an index is the directive's own, and not one in its line."""
    index -= 1
    while index >= 0 and tokens[index].kind in SILENT - {Kind.NEWLINE}:
        index -= 1
    return index >= 0 and tokens[index].text in ("#", "%:")


def _definition(tokens: Sequence[Token], index: int, end: int) -> _Definition:
    """The macro whose name is at an index."""
    begin = index + 1
    while begin < end and tokens[begin].kind is Kind.SPLICE:
        begin += 1
    if begin >= end or tokens[begin].text != "(":
        return _Definition(tokens[index].spelling, None, "", begin, end)
    parameters: list[str] = []
    variadic = ""
    before = "("
    while begin < end and tokens[begin].text != ")":
        if tokens[begin].kind is Kind.IDENTIFIER:
            parameters.append(tokens[begin].spelling)
        elif tokens[begin].text == "..." and before not in (",", "("):
            variadic = before  # GNU's `rest...`
        if tokens[begin].kind not in SILENT:
            before = tokens[begin].spelling
        begin += 1
    return _Definition(tokens[index].spelling, frozenset(parameters), variadic, begin + 1, end)
