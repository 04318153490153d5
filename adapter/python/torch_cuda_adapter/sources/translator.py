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

from torch_cuda_adapter.sources import families, guards
from torch_cuda_adapter.sources.calls import Arguments, read_arguments
from torch_cuda_adapter.sources.launches import Launch, launches
from torch_cuda_adapter.sources.registrations import translated_key
from torch_cuda_adapter.sources.report import Finding, Severity
from torch_cuda_adapter.sources.rules import (
    Answer,
    Called,
    Renamed,
    Rules,
    Unknown,
    Unsupported,
)
from torch_cuda_adapter.sources.tokenizer import SILENT, Kind, Positions, Token, tokenize

Includes: TypeAlias = Callable[[str, bool], str | Unsupported | None]
"""Gets a header's name and whether it is in quotes. Returns what to include in its place, in its
brackets or quotes, where it is one of the files that are translated together, why it stays where it
should be one and may not, and None where it is somebody else's."""

_VERBATIM = frozenset({"pragma", "error", "warning", "line", "ident"})
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
    """
    return _Translator(source, rules, path, includes or (lambda name, quoted: None)).translation()


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
        self._launches = launches(self._tokens) if rules.launches else {}

    def translation(self) -> Translation:
        """Translates all."""
        if self._rules.architecture is not None:
            found = guards.translated(self._tokens, self._rules.architecture)
            self._guards = found.texts
            self._translated["compiler"] += found.count
            for index, severity, reason in found.doubts:
                self._find(index, self._tokens[index].spelling, "compiler", severity, reason)
        text = self._range(0, len(self._tokens))
        findings = sorted(set(self._findings), key=lambda f: (f.line, f.column, f.name))
        return Translation(text, tuple(findings), self._translated)

    def _range(self, begin: int, end: int) -> str:
        """The tokens of a range, translated."""
        pieces = []
        index = begin
        while index < end:
            piece, index = self._next(index, end)
            pieces.append(piece)
        return "".join(pieces)

    def _next(self, index: int, end: int) -> tuple[str, int]:
        """What becomes of the tokens from an index, and the index of the first that is left."""
        token = self._tokens[index]
        if index in self._launches:
            return self._launch(self._launches.pop(index), end)
        if index in self._guards:
            return _with_splices(token, self._guards[index]), index + 1
        if token.kind is Kind.HEADER:
            return self._header(index), index + 1
        if token.kind is Kind.PUNCTUATOR and token.text == "<<<":
            # One that a rule translates has been taken with its kernel's name.
            answer = Unknown("kernels") if self._rules.launches else self._rules.identifier("<<<")
            self._answered(index, token.text, answer)
        if token.kind is not Kind.IDENTIFIER or token.directive in _VERBATIM:
            return token.text, index + 1
        before = self._before(index)
        if before in (".", "->") and token.spelling in self._rules.members:
            self._translated["members"] += 1
            return _with_splices(token, self._rules.members[token.spelling]), index + 1
        key = (
            translated_key(self._tokens, index, self._rules.dispatch_key) if before == "," else None
        )
        if key is not None:
            self._translated["torch"] += 1
            return _with_splices(token, key), index + 1
        if before != "::" or not self._is_named(index):
            qualified = self._qualified(index, end)
            if qualified is not None:
                return qualified
        answer = self._rules.identifier(token.spelling)
        if isinstance(answer, Called):
            if before in (".", "->"):
                return token.text, index + 1
            return self._call(index, end, answer)
        if answer is None and self._after(index, end) == "##":
            answer = _pasted(token.spelling)
        return self._answered(index, token.spelling, answer) or token.text, index + 1

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

    def _qualified(self, index: int, end: int) -> tuple[str, int] | None:
        """As `_next`, where a qualified name begins; None where there is no rule for it."""
        places = self._names_from(index, end)
        parts = [self._tokens[place].spelling for place in places]
        count, answer = self._rules.qualified(parts)
        if isinstance(answer, Renamed):
            self._translated[answer.family] += 1
            return answer.target, places[count - 1] + 1
        if isinstance(answer, Unsupported | Unknown):
            self._answered(index, "::".join(parts), answer)
            after = places[-1] + 1
            return "".join(token.text for token in self._tokens[index:after]), after
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
        return name >= 0 and (
            self._tokens[name].kind is Kind.IDENTIFIER or self._tokens[name].text == ">"
        )

    def _call(self, index: int, end: int, called: Called) -> tuple[str, int]:
        """As `_next`, for a name whose calls are translated."""
        token = self._tokens[index]
        arguments = read_arguments(self._tokens, index + 1, end)
        refused = self._refusal(arguments, called)
        if not refused and self._is_declared(index):
            refused = "it looks like a declaration, of a function with other parameters"
        if refused or arguments is None:
            self._find(index, token.spelling, called.family, Severity.UNSUPPORTED, refused)
            return token.text, index + 1
        template = called.templates[len(arguments.ranges)]
        for number in sorted(set(re.findall(r"\{(\d+)\}", template))):
            if template.count(f"{{{number}}}") > 1 and arguments.may_change(int(number)):
                reason = (
                    f"argument {int(number) + 1} is evaluated twice in the call that replaces it"
                )
                self._find(index, token.spelling, called.family, Severity.ASSUMED, reason)
        texts = {str(n): self._range(*piece) for n, piece in enumerate(arguments.ranges)}
        self._translated[called.family] += 1
        return _filled(template, texts), arguments.end

    def _launch(self, launch: Launch, end: int) -> tuple[str, int]:
        """As `_next`, for a kernel's launch."""
        template = self._rules.launches.get(len(launch.configuration))
        arguments = launch.arguments
        if template is None or arguments.difficulty or arguments.end > end:
            return self._next(launch.kernel[0], end)
        texts = {
            "kernel": self._range(*launch.kernel).rstrip(),
            "arguments": "".join(f", {self._range(*piece)}" for piece in arguments.ranges),
        }
        for number, piece in enumerate(launch.configuration):
            texts[str(number)] = self._range(*piece)
        self._translated["kernels"] += 1
        return _filled(template, texts), arguments.end

    def _is_declared(self, index: int) -> bool:
        """Whether a type stands before a name, so that it is declared and not called."""
        place = self._place_before(index)
        if place < 0 or self._tokens[place].kind is not Kind.IDENTIFIER:
            return False
        return self._tokens[place].spelling not in _BEFORE_CALLS

    @staticmethod
    def _refusal(arguments: Arguments | None, called: Called) -> str:
        """Why a call cannot be translated; empty if it can."""
        wanted = " or ".join(str(count) for count in sorted(called.templates))
        if arguments is None:
            return "it is not called here, and the platform's function takes other arguments"
        if len(arguments.ranges) not in called.templates:
            return f"called with {len(arguments.ranges)} arguments; the rule knows {wanted}"
        if arguments.difficulty:
            return arguments.difficulty
        return ""

    def _find(self, index: int, name: str, family: str, severity: Severity, reason: str) -> None:
        line, column = self._positions.at(self._tokens[index].offset)
        found = Finding(self._path, line, column, name, family, severity.value, reason)
        self._findings.append(found)


def _pasted(stem: str) -> Answer:
    """What to say of a name that others are pasted together with: unknown if they look like CUDA's."""
    ends = ("Xx", "_XX", "32F")
    found = [family for end in ends if (family := families.of_name(stem + end)) is not None]
    return Unknown(found[0]) if found else None


def _filled(template: str, texts: Mapping[str, str]) -> str:
    """A template with texts in the places that it names."""
    return re.sub(r"\{(\w+)\}", lambda match: texts[match[1]], template)


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
