"""The syntax of CMake's language: files cut into commands and arguments (cmake-language(7))."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from decouple.errors import DecoupleError
from decouple.gaps import STRICT, Gap, Gaps

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\f]+)"
    r"|(?P<line>\n)"
    r"|(?P<block_comment>\#\[(?P<hashes>=*)\[.*?\](?P=hashes)\])"
    r"|(?P<comment>\#(?!\[=*\[)[^\n]*)"
    r"|\[(?P<equals>=*)\[(?P<bracket>.*?)\](?P=equals)\]"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"'
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    # An unquoted argument may hold quoted pieces (-DNAME="x") and references.
    r'|(?!\[=*\[)(?P<plain>(?:[^\s()#"\\]|\\.|"(?:[^"\\]|\\.)*")+)',
    re.DOTALL,
)

# A line that begins as a command does; in a condition of several lines, one may begin with an operator.
_START = re.compile(r"^[ \t]*(?!(?:AND|OR|NOT)\b)[A-Za-z_]\w*[ \t]*\(", re.MULTILINE)
# A text of several lines may have such a line: that many are tried with what follows.
_MOST_JOINED = 8

# In a file that configure_file() reads, a variable may stand for commands.
_CONFIGURED = re.compile(r"@\w+@")
_SHOWN = 40


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
    column: int = 0
    """How far its name is indented."""


# What commands set, by where its name stands in their arguments: list(APPEND name …), set(name …).
_SECOND = frozenset({"list", "file", "string", "math", "append_filelist"})
_NONE = frozenset(
    {"if", "elseif", "else", "while", "message", "return", "break", "continue", "include"}
)
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


def names_set(command: Command) -> list[str]:
    """The variables and targets that a command seems to set."""
    words = [argument.text for argument in command.arguments]
    if command.name in _NONE or command.name.startswith("end"):
        return []
    chosen = words[1:2] if command.name in _SECOND else words[:1]
    return [word for word in chosen if _NAME.fullmatch(word)]


def commands(text: str, path: str, gaps: Gaps = STRICT) -> list[Command]:
    """Cuts a CMake file into its commands.

    Args:
        text: the file.
        path: the file, for messages.
        gaps: takes what is no command; the next line that begins like one is where it goes on.
    """
    found, error = _commands(text, path, 1)
    if error is None:
        return found
    if gaps.strict:
        raise error
    found, lost = _recovered(text, path)
    # Each piece by itself may be fine where all together are not.
    for gap in lost or [Gap.of(error, "nothing that is known of")]:
        gaps.add(gap)
    return found


def _recovered(text: str, path: str) -> tuple[list[Command], list[Gap]]:
    """The commands that can be read, piece by piece, and what cannot."""
    starts = [match.start() for match in _START.finditer(text)]
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
    starts.append(len(text))
    found: list[Command] = []
    gaps: list[Gap] = []
    line = 1
    position = 0
    while position < len(starts) - 1:
        done = position + 1
        piece = text[starts[position] : starts[done]]
        commands_before, problem = _commands(piece, path, line)
        if problem is not None and "closed" in problem.message:
            for last in range(done + 1, min(position + _MOST_JOINED, len(starts) - 1) + 1):
                longer = text[starts[position] : starts[last]]
                commands_there, error = _commands(longer, path, line)
                if error is None:
                    commands_before, problem, done, piece = commands_there, None, last, longer
                    break
        found += commands_before
        if problem is not None:
            last_line = line + piece.rstrip().count("\n")
            skipped = f"lines {problem.line} to {max(last_line, problem.line)}"
            broken = "\n".join(piece.split("\n")[problem.line - line :])
            gaps.append(Gap.of(problem, skipped, _names_in(broken)))
        line += piece.count("\n")
        position = done
    return found, gaps


def _names_in(piece: str) -> list[str]:
    """What a command that cannot be read seems to set."""
    words = re.findall(r"[\w.-]+", piece)[:3]
    arguments = tuple(Argument(word, quoted=False) for word in words[1:])
    return names_set(Command(words[0].lower(), arguments, 1, 1)) if words else []


def _commands(text: str, path: str, line: int) -> tuple[list[Command], DecoupleError | None]:
    """The commands of a text whose first line has a number, up to what is none, and what is wrong with that."""
    tokens: list[_Token] = []
    found: list[Command] = []
    position = 0
    problem: DecoupleError | None = None
    try:
        tokens.extend(_tokens(text, path, line))
    except DecoupleError as error:
        problem = error
    try:
        while position < len(tokens):
            kind, name, line, column = tokens[position]
            if _CONFIGURED.fullmatch(name):
                position += 1
                continue
            if kind != "plain" or position + 1 >= len(tokens) or tokens[position + 1][0] != "open":
                shown = name if len(name) < _SHOWN else f"{name[:_SHOWN]}…"
                raise DecoupleError(
                    f"'{shown}' is no CMake command; one is a name and parentheses.",
                    path=path,
                    line=line,
                )
            arguments, position = _arguments(tokens, position + 2, path, line)
            last_line = tokens[position - 1][2]
            found.append(Command(name.lower(), tuple(arguments), line, last_line, column))
    except DecoupleError as error:
        # A text that is not closed is why the command around it is not.
        problem = problem or error
    return found, problem


_Token = tuple[str, str, int, int]
"""Kind, text, line and column."""


def _tokens(text: str, path: str, line: int) -> Iterator[_Token]:
    position = 0
    begin = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise DecoupleError(
                "a quote or bracket is opened here and not closed.", path=path, line=line
            )
        for kind in ("open", "close", "plain", "quoted", "bracket"):
            if match[kind] is not None:
                yield kind, match[kind], line, position - begin
        if "\n" in match[0]:
            line += match[0].count("\n")
            begin = position + match[0].rindex("\n") + 1
        position = match.end()


def _arguments(
    tokens: list[_Token], position: int, path: str, line: int
) -> tuple[list[Argument], int]:
    """The arguments up to the closing parenthesis, and the position behind it."""
    arguments: list[Argument] = []
    depth = 1
    while position < len(tokens):
        kind, text, _, _ = tokens[position]
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
