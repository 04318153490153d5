"""Outcomes of upstream's tests, and how they compare with what is expected of them."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import tomllib
from collections.abc import Iterable, Sequence

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
CRASHED = "crashed"

_ALL_FILES = "*"


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
        general: whether the entry is for all files, and need not be of use in each.
    """

    tests: str
    because: str
    message: str = ""
    outside: bool = False
    general: bool = False

    def covers(self, result: Result) -> bool:
        """Whether this entry tells of a failure."""
        return fnmatch.fnmatchcase(result.test, self.tests) and self.message in result.reason


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A run held against the list of what does not pass.

    Attributes:
        unexpected: failures and crashes that no entry covers.
        needless: entries that covered nothing in a run of all tests of the file.
        passed: how many passed.
        known: how many failed as listed.
        outside: how many ask for what was not built.
        skipped: how many upstream skips.
    """

    unexpected: tuple[Result, ...]
    needless: tuple[Known, ...]
    passed: int
    known: int
    outside: int
    skipped: int

    @property
    def rate(self) -> float:
        """Passed tests of those that ask for what was built and are not skipped, 0 to 1."""
        ran = self.passed + self.known + len(self.unexpected)
        return self.passed / ran if ran else 0.0


def read_known(text: str, file: str) -> list[Known]:
    """Reads the entries of one test file from the list.

    Args:
        text: TOML with tables [["test_torch.py"]] that have `because` and may have `tests`, `message`
            and `outside`. Those of [["*"]] are for all files.
        file: such as "test_torch.py".

    Raises:
        ValueError: an entry lacks a reason.
    """
    tables = tomllib.loads(text)
    entries = []
    for section in (file, _ALL_FILES):
        for entry in tables.get(section, []):
            if not entry.get("because"):
                raise ValueError(f"{section}: {entry} has no `because`; say why it does not pass")
            entries.append(
                Known(
                    entry.get("tests", "*"),
                    entry["because"],
                    entry.get("message", ""),
                    entry.get("outside", False),
                    general=section == _ALL_FILES,
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
    """The outcomes of a run, with those of tests that were run again in place of their first."""
    return list({result.test: result for result in (*first, *again)}.values())


def judge(results: Iterable[Result], known: Iterable[Known], complete: bool) -> Verdict:
    """Compares results with the list.

    Args:
        results: of one file.
        known: its entries.
        complete: whether all tests of the file were run, so that an entry has to be of use.
    """
    known = list(known)
    used: set[Known] = set()
    unexpected = []
    passed = covered = outside = skipped = 0
    for result in results:
        if result.outcome == PASSED:
            passed += 1
        elif result.outcome == SKIPPED:
            skipped += 1
        else:
            entry = next((entry for entry in known if entry.covers(result)), None)
            if entry is None:
                unexpected.append(result)
            else:
                used.add(entry)
                covered += not entry.outside
                outside += entry.outside
    needless = [entry for entry in known if not (entry in used or entry.general)]
    return Verdict(
        tuple(unexpected), tuple(needless if complete else ()), passed, covered, outside, skipped
    )


def total(verdicts: Sequence[Verdict]) -> Verdict:
    """What several files have in all."""
    return Verdict(
        tuple(result for verdict in verdicts for result in verdict.unexpected),
        tuple(entry for verdict in verdicts for entry in verdict.needless),
        sum(verdict.passed for verdict in verdicts),
        sum(verdict.known for verdict in verdicts),
        sum(verdict.outside for verdict in verdicts),
        sum(verdict.skipped for verdict in verdicts),
    )
