"""What compilers say: which errors there are, and which of the router's files they lead to."""

from __future__ import annotations

import dataclasses
import re

_ERROR = re.compile(r"^(?P<place>\S[^:]*:\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$")
_SOURCE = re.compile(r"\b(?:device|router|runtime)/[\w/.-]+\.(?:cpp|h)\b")


@dataclasses.dataclass(frozen=True)
class CompileError:
    """One error of g++ or clang++.

    Attributes:
        source: the router's file that it comes from, though it may lie in what that includes; or None.
        place: file and line.
        text: what is wrong.
    """

    source: str | None
    place: str
    text: str


def errors(said: str) -> list[CompileError]:
    """Reads a compiler's messages.

    Args:
        said: all of them, in English.

    Returns:
        The errors, in order.
    """
    found = []
    # What stands before an error says by what includes and instantiations it was reached.
    before: list[str] = []
    for line in said.splitlines():
        match = _ERROR.match(line)
        if match is None:
            before.append(line)
            continue
        sources = _SOURCE.findall(match["place"]) or _SOURCE.findall("\n".join(before))
        found.append(CompileError(sources[0] if sources else None, match["place"], match["text"]))
        before.clear()
    return found


def by_source(said: str) -> dict[str, CompileError]:
    """The first error of each file, by the file's name."""
    first: dict[str, CompileError] = {}
    for error in errors(said):
        first.setdefault(error.source or error.place.rpartition(":")[0], error)
    return first
