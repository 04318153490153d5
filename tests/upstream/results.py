"""Outcomes of upstream's tests, and how they compare with what is expected of them."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import tomllib
from collections.abc import Iterable

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
CRASHED = "crashed"


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
    """

    tests: str
    because: str
    message: str = ""

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
        skipped: how many upstream skips.
    """

    unexpected: tuple[Result, ...]
    needless: tuple[Known, ...]
    passed: int
    known: int
    skipped: int

    @property
    def rate(self) -> float:
        """Passed tests of those that passed or failed, 0 to 1."""
        ran = self.passed + self.known + len(self.unexpected)
        return self.passed / ran if ran else 0.0


def read_known(text: str, file: str) -> list[Known]:
    """Reads the entries of one test file from the list.

    Args:
        text: TOML with tables [["test_torch.py"]] that have `tests`, `because` and `message`.
        file: such as "test_torch.py".

    Raises:
        ValueError: an entry lacks a reason.
    """
    entries = []
    for entry in tomllib.loads(text).get(file, []):
        if not entry.get("because"):
            raise ValueError(f"{file}: {entry} has no `because`; say why it does not pass")
        entries.append(Known(entry.get("tests", "*"), entry["because"], entry.get("message", "")))
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
    passed = covered = skipped = 0
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
                covered += 1
    needless = [entry for entry in known if entry not in used] if complete else []
    return Verdict(tuple(unexpected), tuple(needless), passed, covered, skipped)
