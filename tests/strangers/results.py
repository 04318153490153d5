"""What became of a suite's tests, and how that compares with the list of those that are known to fail."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import pathlib
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree

OUTCOMES = ("passed", "failed", "skipped")
# What plugin/journal.py is told, which can import nothing from here.
JOURNAL = "STRANGERS_JOURNAL"
"""The variable that names the journal."""
SECONDS = "STRANGERS_SECONDS"
"""The variable that says how long a test may take."""
SHARE = "STRANGERS_SHARE"
"""The variable that says how many tests of a hundred run."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a test.

    Attributes:
        outcome: one of OUTCOMES.
        seconds: how long it took.
        message: of an error, or why it was skipped.
    """

    outcome: str
    seconds: float = 0.0
    message: str = ""


@dataclasses.dataclass(frozen=True)
class Known:
    """Tests that are known to fail.

    Attributes:
        pattern: as of a shell, for the tests' names; a [ is a [.
        because: the reason.
    """

    pattern: str
    because: str

    def names(self, test: str) -> bool:
        """Whether a test is among them."""
        return fnmatch.fnmatchcase(test, self.pattern.replace("[", "[[]"))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How a run differs from the list.

    Attributes:
        new: tests that fail and are not listed.
        passing: patterns of the list that name tests which ran, none of which failed.
        counts: how many tests had an outcome.
    """

    new: tuple[str, ...]
    passing: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def share(self) -> float:
        """The share that passes, in percent, of the tests that were not skipped."""
        ran = self.counts["passed"] + self.counts["failed"]
        return 100 * self.counts["passed"] / ran if ran else 0.0


def read_journal(path: pathlib.Path) -> dict[str, Outcome]:
    """Reads what journal.py wrote.

    Args:
        path: of the journal; it may be missing.

    Returns:
        What became of each test. A test that began and of which no more is known is not among them.
    """
    found = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "test" in entry:
                found[entry["test"]] = Outcome(entry["outcome"], entry["seconds"], entry["message"])
    return found


def of_files(outcomes: Mapping[str, Outcome], files: Iterable[str]) -> dict[str, Outcome]:
    """The outcomes of the tests in some files.

    Args:
        outcomes: of all tests.
        files: their names.
    """
    wanted = set(files)
    return {test: one for test, one in outcomes.items() if test.partition("::")[0] in wanted}


def interrupted(path: pathlib.Path) -> str | None:
    """The test that began last, if nothing is known of its end.

    Args:
        path: of the journal; it may be missing.
    """
    last = None
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "start" in entry:
                last = entry["start"]
            elif entry.get("test") == last:
                last = None
    return last


def write_end(path: pathlib.Path, test: str, message: str) -> None:
    """Writes down that a test ended its process.

    Args:
        path: of the journal.
        test: its name.
        message: what is known of the end.
    """
    entry = {"test": test, "outcome": "failed", "seconds": 0.0, "message": message}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def read_known(text: str) -> list[Known]:
    """Reads a list of tests that are known to fail.

    Args:
        text: paragraphs. Each begins with lines `# REASON`, and has a line a test or pattern behind them.

    Raises:
        ValueError: a test has no reason.
    """
    known = []
    reason: list[str] = []
    in_reason = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line:
            reason, in_reason = [], False
        elif line.startswith("#"):
            if not in_reason:
                reason = []
            reason.append(line.removeprefix("#").strip())
            in_reason = True
        elif not reason:
            raise ValueError(
                f"line {number}: {line} has no reason; needed is a line `# REASON` above it"
            )
        else:
            known.append(Known(line, " ".join(reason)))
            in_reason = False
    return known


def compare(outcomes: Mapping[str, Outcome], known: Iterable[Known]) -> Comparison:
    """Holds a run against the list.

    Args:
        outcomes: of the tests.
        known: the list.
    """
    listed = list(known)
    failed = [test for test, one in outcomes.items() if one.outcome == "failed"]
    new = [test for test in failed if not any(entry.names(test) for entry in listed)]
    passing = [
        entry.pattern
        for entry in listed
        if any(entry.names(test) for test in outcomes)
        and not any(entry.names(test) for test in failed)
    ]
    counts = {
        outcome: sum(one.outcome == outcome for one in outcomes.values()) for outcome in OUTCOMES
    }
    return Comparison(tuple(sorted(new)), tuple(passing), counts)


def junit(suite: str, outcomes: Mapping[str, Outcome], known: Iterable[Known]) -> str:
    """A report as CI services read it.

    Args:
        suite: its name.
        outcomes: of its tests.
        known: the list; the reason stands with a failure that is on it.
    """
    listed = list(known)
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(outcomes)),
        failures=str(sum(one.outcome == "failed" for one in outcomes.values())),
        skipped=str(sum(one.outcome == "skipped" for one in outcomes.values())),
    )
    for test, one in outcomes.items():
        where, _, name = test.rpartition("::")
        case = ElementTree.SubElement(
            root, "testcase", classname=where, name=name, time=f"{one.seconds:.2f}"
        )
        # XML has no place for what terminals are told.
        text = "".join(c if c.isprintable() or c == "\n" else "?" for c in one.message)
        if one.outcome == "failed":
            reasons = [entry.because for entry in listed if entry.names(test)]
            message = f"known: {reasons[0]}" if reasons else "new"
            ElementTree.SubElement(case, "failure", message=message).text = text
        elif one.outcome == "skipped":
            ElementTree.SubElement(case, "skipped").text = text
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
