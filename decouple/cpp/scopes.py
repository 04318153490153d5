"""Names the function or class around a line of C++, well enough for people to find it."""

from __future__ import annotations

import re

from decouple.cpp import lexer

_MARK = re.compile(r"[{};]")
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_TYPE = re.compile(
    r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(?:\w+\s+)*?(\w+)\s*(?:final\s*)?(?::[^:].*)?$",
    re.DOTALL,
)
_CALLABLE = re.compile(r"((?:[A-Za-z_]\w*(?:<[^<>]*>)?::)*(?:~?[A-Za-z_]\w*|operator[^\s(]+))\s*\(")
# What is longer is no head of a function, but data.
_LONGEST_HEADER = 10_000
_BLANK = f" \t\n\r\f\v{lexer.GAP}{lexer.SPLICE}"
_NOT_FUNCTIONS = frozenset(
    [
        "if",
        "for",
        "while",
        "switch",
        "catch",
        "return",
        "sizeof",
        "decltype",
        "defined",
        "constexpr",
        "alignas",
        "__attribute__",
        "noexcept",
        "requires",
        "static_assert",
        "TORCH_API",
    ]
)


class Scopes:
    """The braces of a file and what they belong to."""

    def __init__(self, text: str) -> None:
        """Reads the scopes of a C or C++ source."""
        masked = _DIRECTIVE.sub(lambda match: " " * len(match[0]), lexer.mask(text))
        self._lines = lexer.Lines(text)
        self._spans: list[tuple[int, int, str]] = []
        stack: list[tuple[int, str]] = []
        before = 0
        for mark in _MARK.finditer(masked):
            if mark[0] == "{":
                header = masked[before : mark.start()]
                blank = len(header) - len(header.lstrip(_BLANK))
                stack.append((before + blank, _name(header)))
            elif mark[0] == "}" and stack:
                start, name = stack.pop()
                if name:
                    outer = [scope for _, scope in stack if scope]
                    if not outer or not outer[-1].endswith("()"):
                        self._spans.append((start, mark.end(), "::".join([*outer, name])))
            before = mark.end()

    def at(self, line: int) -> str:
        """The innermost function, or else class, around the start of a line; empty where there is none."""
        offset = self._lines.start(line)
        inside = [span for span in self._spans if span[0] <= offset < span[1]]
        if not inside:
            return ""
        return max(inside)[2].removesuffix("()")


def _name(header: str) -> str:
    """What a brace opens: the name of a type, a function's name and "()", or nothing."""
    header = header[-_LONGEST_HEADER:]
    for match in _CALLABLE.finditer(header):
        if match[1] not in _NOT_FUNCTIONS and not match[1].isupper():
            return "" if "=" in header[: match.start()] else f"{match[1]}()"
    found = _TYPE.search(header)
    return found[1] if found else ""
