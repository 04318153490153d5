"""What of a tree could not be read: where, what is skipped, and what may be incomplete because of it.

Every reader of the tool reports here and goes on with the rest: a statement, a command, a conditional is lost and not the
file. A build wants an error instead: then the first report is one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from decouple.errors import DecoupleError

_SHOWN = 20
_SHOWN_NAMES = 6


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A piece of the tree that could not be read."""

    path: str
    line: int
    """0 where it is about the whole file."""
    problem: str
    """What was found there."""
    skipped: str
    """What is left out because of it."""
    affects: tuple[str, ...] = ()
    """Lists, variables, targets and paths that may be incomplete."""

    @classmethod
    def of(cls, error: DecoupleError, skipped: str, affects: Iterable[str] = ()) -> Gap:
        """The gap that an error leaves where the reader goes on."""
        return cls(
            error.path,
            error.line,
            error.message.rstrip("."),
            skipped,
            tuple(sorted(set(affects))),
        )

    def error(self) -> DecoupleError:
        """The error that it is where nothing may be skipped."""
        return DecoupleError(f"{self.problem}.", path=self.path, line=self.line)

    def __str__(self) -> str:
        """Where, what and what for, in one line."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        text = f"{place}: {self.problem}; skipped: {self.skipped}"
        if self.affects:
            more = len(self.affects) - _SHOWN_NAMES
            names = ", ".join(self.affects[:_SHOWN_NAMES]) + (f" and {more} more" * (more > 0))
            text += f"; may be incomplete: {names}"
        return text


class Gaps:
    """Collects gaps, each place once; a strict one raises the first as an error."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self._found: dict[tuple[str, int, str], Gap] = {}

    def add(self, gap: Gap) -> None:
        """Reports a gap.

        Raises:
            DecoupleError: nothing may be skipped.
        """
        if self.strict:
            raise gap.error()
        place = (gap.path, gap.line, gap.problem)
        known = self._found.get(place, gap)
        affects = tuple(sorted({*known.affects, *gap.affects}))
        self._found[place] = dataclasses.replace(known, affects=affects)

    def all(self) -> tuple[Gap, ...]:
        """All that was reported, sorted."""
        return tuple(sorted(self._found.values()))


STRICT = Gaps(strict=True)
"""For readers whose caller wants an error."""


def summary(gaps: Sequence[Gap]) -> str:
    """What could not be read, for the end of a command's output; empty where that is nothing."""
    if not gaps:
        return ""
    places = "1 place" if len(gaps) == 1 else f"{len(gaps)} places"
    lines = [f"could not be read: {places}; what is said above may lack what depends on them"]
    lines += [f"  {gap}" for gap in gaps[:_SHOWN]]
    if len(gaps) > _SHOWN:
        lines.append(f"  and {len(gaps) - _SHOWN} more; scan --json FILE writes them all")
    return "\n".join(lines)


def dependents(names: Iterable[str], uses: Mapping[str, Iterable[str]]) -> set[str]:
    """Some names and all that is made of them, directly or not.

    Args:
        names: where to start.
        uses: for each name, the names that it is made of.
    """
    users: dict[str, set[str]] = {}
    for name, used in uses.items():
        for other in used:
            users.setdefault(other, set()).add(name)
    found = set(names)
    waiting = list(found)
    while waiting:
        new = users.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
