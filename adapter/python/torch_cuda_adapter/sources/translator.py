"""Translates one text by a platform's rules, token by token.

Strings, comments, `#pragma`, `#error` and what the rules do not name stay as they are, character by
character. Translating the result again changes nothing.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.sources import families, guards, macros, pieces, remains
from torch_cuda_adapter.sources.calls import Ranges, read_arguments
from torch_cuda_adapter.sources.effects import effects
from torch_cuda_adapter.sources.launches import Launch, launches
from torch_cuda_adapter.sources.pieces import Piece, Place
from torch_cuda_adapter.sources.registrations import translated_enumerator, translated_key
from torch_cuda_adapter.sources.report import Finding, Severity
from torch_cuda_adapter.sources.rules import (
    Answer,
    Called,
    Renamed,
    Rules,
    Unknown,
    Unsupported,
)
from torch_cuda_adapter.sources.tokenizer import (
    KEYWORDS,
    SILENT,
    Kind,
    Positions,
    Token,
    tokenize,
)

Includes: TypeAlias = Callable[[str, bool], str | Unsupported | None]
"""Gets a header's name and whether it is in quotes. Returns what to include in its place, in its
brackets or quotes, where it is one of the files that are translated together, why it stays where it
should be one and may not, and None where it is somebody else's."""

_BETWEEN_NAMES = SILENT - {Kind.COMMENT}
# Names that stand before a call; any other before a name makes a declaration of it.
_BEFORE_CALLS = frozenset(
    {
        "return",
        "else",
        "do",
        "case",
        "throw",
        "co_return",
        "co_await",
        "co_yield",
        "and",
        "or",
        "not",
    }
)
_UNKNOWN = "no rule knows it"
_PASTED = "a name is pasted together with it; write the names out"
_MEMBER = "a member of somebody's; the rule is for the function"
_ASSUMED = "renamed by its family's pattern; the platform may not have {target}"


@dataclasses.dataclass(frozen=True, slots=True)
class Translation:
    """What became of a text.

    Attributes:
        text: the translated text.
        findings: what could not be translated, or is not sure, in the order of the text.
        translated: how many names of each family were translated.
    """

    text: str
    findings: tuple[Finding, ...]
    translated: Counter[str]


def translate(
    source: str, rules: Rules, path: str = "<text>", includes: Includes | None = None
) -> Translation:
    """Translates a text.

    Args:
        source: C++ or CUDA, with its line ends as they are in the file.
        rules: of the platform.
        path: the file, for the findings.
        includes: knows the headers that are translated together with it; without it none are.

    Returns:
        The translation.

    Raises:
        AdapterError: calls are too deep in each other.
    """
    translator = _Translator(source, rules, path, includes or (lambda name, quoted: None))
    try:
        return translator.translation()
    except RecursionError:
        raise AdapterError(
            f"{path}: found calls that are nested too deeply; split some of them into statements"
        ) from None


class _Translator:
    def __init__(self, source: str, rules: Rules, path: str, includes: Includes) -> None:
        self._tokens = tokenize(source)
        self._positions = Positions(source)
        self._rules = rules
        self._path = path
        self._includes = includes
        self._findings: list[Finding] = []
        self._translated: Counter[str] = Counter()
        self._guards: dict[int, str] = {}
        self._macros = macros.read(self._tokens)
        self._reported: set[int] = set()
        self._own = remains.own_namespaces(self._tokens)
        counts = rules.launches.keys()
        self._launches = launches(self._tokens, counts, self._macros.several) if counts else {}

    def translation(self) -> Translation:
        """Translates all."""
        if self._rules.architecture is not None:
            found = guards.translated(self._tokens, self._rules.architecture)
            self._guards = found.texts
            self._translated["compiler"] += found.count
            for index, severity, reason in found.doubts:
                self._find(index, self._tokens[index].spelling, "compiler", severity, reason)
        written = self._range(0, len(self._tokens))
        found_at_last = remains.remains(
            self._tokens, written, self._rules, self._reported | self._own, self._macros.opaque
        )
        for left in found_at_last:
            self._find(left.index, left.name, left.family, left.severity, left.reason)
        text = "".join(piece.text for piece in written)
        findings = sorted(set(self._findings), key=lambda f: (f.line, f.column, f.name))
        return Translation(text, tuple(findings), self._translated)

    def _range(self, begin: int, end: int) -> list[Piece]:
        """The tokens of a range, translated."""
        written: list[Piece] = []
        index = begin
        while index < end:
            is_name = self._tokens[index].kind is Kind.IDENTIFIER
            found, index = self._next(index, end)
            first = next((piece.text for piece in found if piece.text), "")
            if is_name and first[:1] in ("(", "["):
                _take_back_colons(written)
            written += found
        return written

    def _copied(self, index: int, after: int) -> tuple[list[Piece], int]:
        """As `_next`, for tokens that stay."""
        return [Piece(self._tokens[i].text, (i,)) for i in range(index, after)], after

    def _in_place(self, index: int, text: str) -> tuple[list[Piece], int]:
        """As `_next`, for a token in whose place another text comes."""
        return [Piece(_with_splices(self._tokens[index], text), (index,))], index + 1

    def _next(self, index: int, end: int) -> tuple[list[Piece], int]:
        """What becomes of the tokens from an index, and the index of the first that is left."""
        token = self._tokens[index]
        if index in self._launches:
            return self._launch(self._launches.pop(index), end)
        if index in self._guards:
            return self._in_place(index, self._guards[index])
        if token.kind is Kind.HEADER:
            return [Piece(self._header(index), (index,))], index + 1
        if token.kind is Kind.PUNCTUATOR and token.text == "<<<":
            # One that a rule translates has been taken with its kernel's name.
            answer = Unknown("kernels") if self._rules.launches else self._rules.identifier("<<<")
            self._answered(index, token.text, answer)
        if token.kind is not Kind.IDENTIFIER or token.directive in remains.VERBATIM:
            return self._copied(index, index + 1)
        before = self._before(index)
        if before in (".", "->") and token.spelling in self._rules.members:
            self._translated["members"] += 1
            return self._in_place(index, self._rules.members[token.spelling])
        key = self._key(index, before)
        if key is not None:
            self._translated["torch"] += 1
            return self._in_place(index, key)
        if before != "::" or not self._is_named(index):
            qualified = self._qualified(index, end)
            if qualified is not None:
                return qualified
        answer = None if index in self._own else self._rules.identifier(token.spelling)
        if isinstance(answer, Called):
            if before in (".", "->") or before == "::" and self._is_named(index):
                self._find(index, token.spelling, answer.family, Severity.UNSUPPORTED, _MEMBER)
                return self._copied(index, index + 1)
            return self._call(index, end, answer)
        if not isinstance(answer, Renamed) and self._after(index, end) == "##":
            answer = _pasted(self._stem(index, end)) or answer
        text = self._answered(index, token.spelling, answer)
        return (
            self._copied(index, index + 1) if text is None else ([Piece(text, (index,))], index + 1)
        )

    def _key(self, index: int, before: str) -> str | None:
        """What becomes of a dispatch key, or of what is named as one; None for all else."""
        key = self._rules.dispatch_key
        if before == ",":
            return translated_key(self._tokens, index, key)
        return translated_enumerator(self._tokens, index, key) if before == "::" else None

    def _stem(self, index: int, end: int) -> str:
        """A name with those that are pasted to it, up to the first that is not known."""
        stem = self._tokens[index].spelling
        while self._after(index, end) == "##":
            index = self._skip(self._skip(index + 1, end) + 1, end)
            if index >= end or index in self._macros.opaque:
                break
            stem += self._tokens[index].spelling
        return stem

    def _answered(self, index: int, name: str, answer: Answer) -> str | None:
        """The text in the place of a token by the answer of the rules; None where it stays."""
        if isinstance(answer, Renamed):
            self._translated[answer.family] += 1
            if answer.assumed:
                reason = _ASSUMED.format(target=answer.target)
                self._find(index, name, answer.family, Severity.ASSUMED, reason)
            return _with_splices(self._tokens[index], answer.target)
        if isinstance(answer, Unsupported):
            self._find(index, name, answer.family, Severity.UNSUPPORTED, answer.reason)
        elif isinstance(answer, Unknown):
            reason = _PASTED if self._after(index, len(self._tokens)) == "##" else _UNKNOWN
            self._find(index, name, answer.family, Severity.UNKNOWN, reason)
        return None

    def _header(self, index: int) -> str:
        token = self._tokens[index]
        opening, name, closing = token.spelling[0], token.spelling[1:-1], token.spelling[-1]
        local = self._includes(name, opening == '"')
        if isinstance(local, Unsupported):
            self._answered(index, token.spelling, local)
            return token.text
        if local is not None:
            return token.text if local == token.spelling else local
        answer = self._rules.header(name)
        if isinstance(answer, Renamed):
            self._translated["headers"] += 1
            return f"{opening}{answer.target}{closing}"
        self._answered(index, token.spelling, answer)
        return token.text

    def _qualified(self, index: int, end: int) -> tuple[list[Piece], int] | None:
        """As `_next`, where a qualified name begins; None where there is no rule for it."""
        places = self._names_from(index, end)
        parts = [self._tokens[place].spelling for place in places]
        count, answer = self._rules.qualified(parts)
        if isinstance(answer, Renamed):
            self._translated[answer.family] += 1
            after = places[count - 1] + 1
            return [Piece(answer.target, range(index, after))], after
        if isinstance(answer, Unsupported | Unknown):
            self._answered(index, "::".join(parts), answer)
            self._reported.update(places)
            return self._copied(index, places[-1] + 1)
        return None

    def _names_from(self, index: int, end: int) -> list[int]:
        """Where the names of a qualified name are; one, if it has no namespaces."""
        places = [index]
        while True:
            colons = self._skip(places[-1] + 1, end)
            if colons >= end or self._tokens[colons].text != "::":
                return places
            name = self._skip(colons + 1, end)
            if name >= end or self._tokens[name].kind is not Kind.IDENTIFIER:
                return places
            places.append(name)

    def _skip(self, index: int, end: int) -> int:
        """The next token that is not a blank; a comment is one, and so is a directive's end."""
        while index < end and self._tokens[index].kind in _BETWEEN_NAMES:
            if self._tokens[index].kind is Kind.NEWLINE and self._tokens[index].directive:
                break
            index += 1
        return index

    def _before(self, index: int) -> str:
        """The token before an index that is not silent; empty at the start."""
        place = self._place_before(index)
        return self._tokens[place].spelling if place >= 0 else ""

    def _after(self, index: int, end: int) -> str:
        """The token behind an index that is not silent; empty at the end."""
        place = self._skip(index + 1, end)
        return self._tokens[place].spelling if place < end else ""

    def _place_before(self, index: int) -> int:
        index -= 1
        while index >= 0 and self._tokens[index].kind in SILENT:
            index -= 1
        return index

    def _is_named(self, index: int) -> bool:
        """Whether a name stands before the `::` that comes before an index."""
        colons = self._place_before(index)
        name = self._place_before(colons)
        if name < 0 or self._tokens[name].spelling in KEYWORDS:
            return False
        return self._tokens[name].kind is Kind.IDENTIFIER or self._tokens[name].text == ">"

    def _call(self, index: int, end: int, called: Called) -> tuple[list[Piece], int]:
        """As `_next`, for a name whose calls are translated."""
        token = self._tokens[index]
        arguments = read_arguments(self._tokens, index + 1, end, self._macros.several)
        ranges: Ranges = ()
        if arguments is None:
            refused = "it is not called here, and the platform's function takes other arguments"
        else:
            ranges, refused = arguments.chosen(called.templates.keys())
        if not refused and self._is_declared(index):
            refused = "it looks like a declaration, of a function with other parameters"
        if refused or arguments is None:
            self._find(index, token.spelling, called.family, Severity.UNSUPPORTED, refused)
            return self._copied(index, index + 1)
        template = called.templates[len(ranges)]
        places = {str(number): piece for number, piece in enumerate(ranges)}
        return self._filled((index, arguments.end), template, places, (), called.family)

    def _launch(self, launch: Launch, end: int) -> tuple[list[Piece], int]:
        """As `_next`, for a kernel's launch."""
        template = self._rules.launches.get(len(launch.configuration))
        arguments = launch.arguments
        begin, after = launch.kernel
        if template is None or arguments.end > end:
            return self._next(begin, end)
        while self._tokens[after - 1].kind in _BETWEEN_NAMES:
            after -= 1
        places = {str(number): piece for number, piece in enumerate(launch.configuration)}
        places["kernel"] = (begin, after)
        passed = arguments.readings[0]
        return self._filled((begin, arguments.end), template, places, passed, "kernels")

    def _filled(
        self,
        tokens: tuple[int, int],
        template: str,
        places: Mapping[str, tuple[int, int]],
        passed: Ranges,
        family: str,
    ) -> tuple[list[Piece], int]:
        """As `_next`, for tokens in whose place a template comes, if all can come into it.

        Args:
            tokens: from and to.
            template: of the rule.
            places: the tokens of what comes in the place of a name in braces.
            passed: those of a kernel's arguments, `{arguments}`.
            family: of the rule.
        """
        index, after = tokens
        known = {name: self._place(name, *piece) for name, piece in places.items()}
        refused = pieces.refusal(template, known)
        if refused:
            self._find(index, self._tokens[index].spelling, family, Severity.UNSUPPORTED, refused)
            return self._copied(index, index + 1)
        for name, piece in places.items():
            known[name] = dataclasses.replace(known[name], pieces=self._range(*piece))
        arguments: list[Piece] = []
        for piece in passed:
            arguments += [Piece(", "), *self._range(*piece)]
        known["arguments"] = Place(arguments)
        inside = {i for begin, end in (*places.values(), *passed) for i in range(begin, end)}
        self._translated[family] += 1
        origin = [i for i in range(index, after) if i not in inside]
        return pieces.filled(template, known, origin), after

    def _place(self, name: str, begin: int, end: int) -> Place:
        """What is known of an argument."""
        found = effects(self._tokens, begin, end, self._macros.opaque)
        first = self._tokens[begin].text if begin < end else ""
        return Place(
            (),
            has_effect=bool(found) and name.isdigit(),
            is_expression=first not in ("", "{", "<%"),
        )

    def _is_declared(self, index: int) -> bool:
        """Whether a type stands before a name, so that it is declared and not called."""
        place = self._place_before(index)
        if place < 0 or self._tokens[place].kind is not Kind.IDENTIFIER:
            return False
        return self._tokens[place].spelling not in _BEFORE_CALLS

    def _find(self, index: int, name: str, family: str, severity: Severity, reason: str) -> None:
        self._reported.add(index)
        line, column = self._positions.at(self._tokens[index].offset)
        found = Finding(self._path, line, column, name, family, severity.value, reason)
        self._findings.append(found)


def _pasted(stem: str) -> Answer:
    """What to say of a name that others are pasted together with: unknown if they look like CUDA's."""
    ends = ("Xx", "_XX", "32F")
    found = [family for end in ends if (family := families.of_name(stem + end)) is not None]
    return Unknown(found[0]) if found else None


def _take_back_colons(written: list[Piece]) -> None:
    """Takes the `::` of the global namespace back: no name follows it."""
    if written and written[-1].text == "::":
        written.pop()


def _with_splices(token: Token, text: str) -> str:
    """A text in the place of a token, with the token's line ends behind it."""
    if token.text == token.spelling:
        return text
    return text + "".join(re.findall(r"\\[ \t\f\v]*\r?\n", token.text))


def names_of_headers(source: str) -> Sequence[tuple[str, bool]]:
    """The headers that a text names, each with whether it is in quotes."""
    return [
        (token.spelling[1:-1], token.spelling[0] == '"')
        for token in tokenize(source)
        if token.kind is Kind.HEADER
    ]
