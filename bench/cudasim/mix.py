"""What programs execute on the simulated device, of the file that CUDASIM_COUNT names."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable

PATTERNS = ("alike", "consecutive", "strided", "scattered")


@dataclasses.dataclass(frozen=True)
class Line:
    """What was executed of one instruction with one pattern of addresses.

    Attributes:
        function: the kernel's name, or that of a function that it calls.
        index: of the instruction in the function.
        row: its opcode, with its modifiers.
        pattern: how addresses of the lanes lie, in global or shared memory; none: it does not access that.
        full: warps of which all 32 lanes executed it.
        parted: warps of which some lanes did.
        threads: lanes that did.
    """

    function: str
    index: int
    row: str
    pattern: str
    full: int
    parted: int
    threads: int

    @property
    def warps(self) -> int:
        """Warps that executed it."""
        return self.full + self.parted


def read(text: str) -> list[Line]:
    """The lines of a file of counts.

    Raises:
        ValueError: a line has not seven fields.
    """
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split("\t")
        if len(fields) != len(dataclasses.fields(Line)):
            raise ValueError(f"line {number} of the counts has {len(fields)} fields, not 7: {line}")
        function, index, row, pattern, full, parted, threads = fields
        lines.append(Line(function, int(index), row, pattern, int(full), int(parted), int(threads)))
    return lines


def share(lines: Iterable[Line], chosen: Callable[[Line], bool]) -> float:
    """The part of the warps' instructions that some lines are; 0 of nothing."""
    everything = list(lines)
    whole = sum(line.warps for line in everything)
    return sum(line.warps for line in everything if chosen(line)) / whole if whole else 0.0


def has_pattern(pattern: str) -> Callable[[Line], bool]:
    """Whether a line is of accesses with a pattern, as share() takes it."""
    return lambda line: line.pattern == pattern


def totals(lines: Iterable[Line], key: Callable[[Line], str]) -> collections.Counter[str]:
    """The warps' instructions of each function, each row or whatever a key tells of a line."""
    sums: collections.Counter[str] = collections.Counter()
    for line in lines:
        sums[key(line)] += line.warps
    return sums


def by_row(lines: Iterable[Line]) -> dict[str, float]:
    """The part of each row, the largest first."""
    sums = totals(lines, lambda line: line.row)
    whole = sums.total()
    return {row: count / whole for row, count in sums.most_common()}


def most(counts: Iterable[float], part: float) -> int:
    """How many of the largest counts are at least a part of their sum."""
    sizes = sorted(counts, reverse=True)
    wanted = part * sum(sizes)
    reached = 0.0
    for number, size in enumerate(sizes):
        if reached >= wanted:
            return number
        reached += size
    return len(sizes)
