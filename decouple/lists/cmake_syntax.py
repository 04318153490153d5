"""The syntax of CMake's language: files cut into commands and arguments (cmake-language(7))."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from decouple.errors import DecoupleError

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\f]+)"
    r"|(?P<line>\n)"
    r"|(?P<block_comment>\#\[(?P<hashes>=*)\[.*?\](?P=hashes)\])"
    r"|(?P<comment>\#[^\n]*)"
    r"|\[(?P<equals>=*)\[(?P<bracket>.*?)\](?P=equals)\]"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"'
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    # An unquoted argument may hold quoted pieces (-DNAME="x") and references.
    r'|(?P<plain>(?:[^\s()#"\\]|\\.|"(?:[^"\\]|\\.)*")+)',
    re.DOTALL,
)

# In a file that configure_file() reads, a variable may stand for commands.
_CONFIGURED = re.compile(r"@\w+@")


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """One argument as it is written, and how."""

    text: str
    quoted: bool
    """Whether it stays one argument whatever its value is."""
    raw: bool = False
    """Whether references and escapes in it mean nothing (a bracket argument)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Command:
    """One command invocation; names do not depend on case."""

    name: str
    arguments: tuple[Argument, ...]
    line: int
    last_line: int
    """Where its closing parenthesis is."""


def commands(text: str, path: str) -> list[Command]:
    """Cuts a CMake file into its commands.

    Args:
        text: the file.
        path: the file, for messages.

    Raises:
        DecoupleError: something is no command; it names the line.
    """
    tokens = list(_tokens(text, path))
    found = []
    position = 0
    while position < len(tokens):
        kind, name, line = tokens[position]
        if _CONFIGURED.fullmatch(name):
            position += 1
            continue
        if kind != "plain" or position + 1 >= len(tokens) or tokens[position + 1][0] != "open":
            raise DecoupleError(
                f"'{name}' is no CMake command; one is a name and parentheses.",
                path=path,
                line=line,
            )
        arguments, position = _arguments(tokens, position + 2, path, line)
        last_line = tokens[position - 1][2]
        found.append(Command(name.lower(), tuple(arguments), line, last_line))
    return found


def _tokens(text: str, path: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise DecoupleError(
                "a quote or bracket is opened here and not closed.", path=path, line=line
            )
        for kind in ("open", "close", "plain", "quoted", "bracket"):
            if match[kind] is not None:
                yield kind, match[kind], line
        line += match[0].count("\n")
        position = match.end()


def _arguments(
    tokens: list[tuple[str, str, int]], position: int, path: str, line: int
) -> tuple[list[Argument], int]:
    """The arguments up to the closing parenthesis, and the position behind it."""
    arguments: list[Argument] = []
    depth = 1
    while position < len(tokens):
        kind, text, _ = tokens[position]
        position += 1
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth == 0:
            return arguments, position
        if kind == "bracket":
            arguments.append(Argument(text.removeprefix("\n"), quoted=True, raw=True))
        else:
            # Parentheses inside are arguments of their own: if() needs them.
            arguments.append(Argument(text, quoted=kind == "quoted"))
    raise DecoupleError("this command's parenthesis is never closed.", path=path, line=line)
