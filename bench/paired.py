"""Comparing two things by paired, interleaved runs, so that a machine that slows down hits both."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence


@dataclasses.dataclass(frozen=True)
class Ratios:
    """Ratios of paired readings.

    Attributes:
        median: the middle one.
        lower: first quartile.
        upper: third quartile.
        pairs: how many there are.
    """

    median: float
    lower: float
    upper: float
    pairs: int

    def __str__(self) -> str:
        quartiles = f"quartiles {self.lower:.3f} to {self.upper:.3f}"
        return f"{self.median:.3f} ({quartiles}, {self.pairs} pairs)"


def interleave(
    first: Callable[[], float], second: Callable[[], float], pairs: int
) -> list[tuple[float, float]]:
    """Reads two things in turn.

    Args:
        first: gives one reading of the first thing.
        second: gives one reading of the second thing.
        pairs: how many pairs of readings to keep; one more is read before and thrown away, because
            it fills caches.

    Returns:
        (reading of first, reading of second); which of the two is read first alternates.
    """
    readings = []
    for index in range(pairs + 1):
        if index % 2:
            one = first()
            other = second()
        else:
            other = second()
            one = first()
        readings.append((one, other))
    return readings[1:]


def ratios(readings: Sequence[tuple[float, float]]) -> Ratios:
    """Summarises pairs.

    Args:
        readings: at least two pairs of positive readings.

    Returns:
        Median and quartiles of first over second.

    Raises:
        ValueError: there are fewer than two pairs.
    """
    if len(readings) < 2:
        raise ValueError(f"{len(readings)} pair(s) have no spread; take at least 2.")
    values = [one / other for one, other in readings]
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return Ratios(median, lower, upper, len(values))
