"""Outcomes of upstream's tests, and how they compare with what is expected of them."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import tomllib
from collections.abc import Iterable, Sequence

from upstream.tests.outside import Outside

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
CRASHED = "crashed"
ORDER_DEPENDENT = "order-dependent"
"""Failed among the others of its file, and passed without those that pass."""


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of one test.

    Attributes:
        test: "Class.method".
        outcome: one of the constants of this module.
        reason: why it failed, one line.
        seconds: how long it took.
    """

    test: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Known:
    """Tests that are known not to pass.

    Attributes:
        tests: name or pattern, as in a shell.
        because: the reason.
        message: part of the failure's reason; empty: any.
        outside: whether they ask for what was not built, and so are no tests of what was.
    """

    tests: str
    because: str
    message: str = ""
    outside: bool = False

    def covers(self, result: Result) -> bool:
        """Whether this entry tells of a failure."""
        return fnmatch.fnmatchcase(result.test, self.tests) and self.message in result.reason


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A run held against the list of what does not pass.

    Attributes:
        unexpected: failures and crashes that no entry covers.
        order_dependent: failures that no entry covers and that pass alone.
        needless: entries that covered nothing in a run of all tests of the file.
        passed: how many passed.
        known: how many failed as listed.
        outside: how many ask for what was not built.
        skipped: how many upstream skips.
    """

    unexpected: tuple[Result, ...]
    order_dependent: tuple[Result, ...]
    needless: tuple[Known, ...]
    passed: int
    known: int
    outside: int
    skipped: int

    @property
    def rate(self) -> float:
        """Passed tests of those that ask for what was built and are not skipped, 0 to 1."""
        ran = self.passed + self.known + len(self.unexpected) + len(self.order_dependent)
        return self.passed / ran if ran else 0.0


def read_known(text: str, file: str, devices: str = "") -> list[Known]:
    """Reads the entries of one test file from the list.

    Args:
        text: TOML with tables [["test_torch.py"]] that have `because` and may have `tests`, `message`,
            `outside` and `devices`.
        file: such as "test_torch.py".
        devices: whose entries, as they name it; empty: those that name none, of the simulated device.

    Raises:
        ValueError: an entry lacks a reason.
    """
    entries = []
    for entry in tomllib.loads(text).get(file, []):
        if not entry.get("because"):
            raise ValueError(f"{file}: {entry} has no `because`; say why it does not pass")
        if entry.get("devices", "") != devices:
            continue
        entries.append(
            Known(
                entry.get("tests", "*"),
                entry["because"],
                entry.get("message", ""),
                entry.get("outside", False),
            )
        )
    return entries


def read_record(lines: Iterable[str]) -> list[Result]:
    """Reads what recorder.py wrote; a test without an outcome crashed its process."""
    results: dict[str, Result] = {}
    for line in lines:
        fields = json.loads(line)
        if "started" in fields:
            results[fields["started"]] = Result(fields["started"], CRASHED, "the process ended")
        elif "test" in fields:
            results[fields["test"]] = Result(
                fields["test"], fields["outcome"], fields["reason"], fields["seconds"]
            )
    return list(results.values())


def merge(first: Iterable[Result], again: Iterable[Result]) -> list[Result]:
    """The outcomes of a run, told apart by those of its failures that were run again without the others.

    Args:
        first: of all tests.
        again: of those that failed. One that passes then is order-dependent, and keeps its first reason; one that
            ended its process has crashed, whatever it does alone.
    """
    alone = {result.test: result for result in again}
    merged = []
    for result in first:
        second = alone.get(result.test, result)
        if second.outcome == PASSED and result.outcome == CRASHED:
            second = result
        elif second.outcome == PASSED and result.outcome == FAILED:
            second = dataclasses.replace(result, outcome=ORDER_DEPENDENT)
        merged.append(second)
    return merged


def judge(
    results: Iterable[Result], known: Iterable[Known], outside: Outside, complete: bool
) -> Verdict:
    """Compares results with the list.

    Args:
        results: of one file.
        known: its entries.
        outside: the operators that were not built.
        complete: whether all tests of the file were run, so that an entry has to be of use.
    """
    known = list(known)
    used: set[Known] = set()
    unexpected = []
    order_dependent = []
    counts = {PASSED: 0, SKIPPED: 0, "known": 0, "outside": 0}
    for result in results:
        if result.outcome in counts:
            counts[result.outcome] += 1
            continue
        entry = next((entry for entry in known if entry.covers(result)), None)
        if entry is not None:
            used.add(entry)
            counts["outside" if entry.outside else "known"] += 1
        elif outside.asked_for(result.reason):
            counts["outside"] += 1
        elif result.outcome == ORDER_DEPENDENT:
            order_dependent.append(result)
        else:
            unexpected.append(result)
    return Verdict(
        tuple(unexpected),
        tuple(order_dependent),
        tuple(entry for entry in known if complete and entry not in used),
        counts[PASSED],
        counts["known"],
        counts["outside"],
        counts[SKIPPED],
    )


def total(verdicts: Sequence[Verdict]) -> Verdict:
    """What several files have in all."""
    return Verdict(
        tuple(result for verdict in verdicts for result in verdict.unexpected),
        tuple(result for verdict in verdicts for result in verdict.order_dependent),
        tuple(entry for verdict in verdicts for entry in verdict.needless),
        sum(verdict.passed for verdict in verdicts),
        sum(verdict.known for verdict in verdicts),
        sum(verdict.outside for verdict in verdicts),
        sum(verdict.skipped for verdict in verdicts),
    )
