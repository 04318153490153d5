"""The report of a run: which level is passed, subject by subject, in Markdown and in JUnit's XML."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.conformance import capabilities, junit
from tests.conformance.device import Device
from tests.conformance.subjects import LEVELS, Subject

PASSED = "passed"
FAILED = "failed"
ABSENT = "absent"
NOT_RUN = "not run"

_LINES = 12
"""Of a failure's message that the Markdown has; the XML has all of it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a subject.

    Attributes:
        subject: which.
        cases: its tests; None: it was not run.
        absent: what the device lacks for it, or "".
        repeat: the command that runs it again.
    """

    subject: Subject
    cases: Sequence[junit.Case] | None
    absent: str = ""
    repeat: str = ""

    def count(self, outcome: str) -> int:
        """How many tests ended so."""
        return sum(case.outcome == outcome for case in self.cases or ())

    @property
    def seconds(self) -> float:
        """How long its tests took."""
        return sum(case.seconds for case in self.cases or ())

    @property
    def failures(self) -> list[junit.Case]:
        """The tests that failed."""
        return [case for case in self.cases or () if case.outcome == junit.FAILED]

    @property
    def result(self) -> str:
        """One of the constants of this module."""
        if self.absent:
            return ABSENT
        if self.cases is None:
            return NOT_RUN
        passed, failed = self.count(junit.PASSED), self.count(junit.FAILED)
        if any(not case.suite and case.name == "process" for case in self.failures):
            return FAILED
        return PASSED if passed >= self.subject.rate * (passed + failed) else FAILED


def results(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """What became of each level that has subjects: the worst that became of one of these, or of a level below."""
    order = (PASSED, ABSENT, NOT_RUN, FAILED)
    found = {}
    worst = PASSED
    for level in LEVELS:
        those = [each.result for each in outcomes if each.subject.level == level]
        if those:
            worst = max(worst, *those, key=order.index)
            found[level] = worst
    return found


def markdown(
    device: Device, outcomes: Sequence[Outcome], partly: bool, torch: str | None = None
) -> str:
    """The report as a page.

    Args:
        device: the library.
        outcomes: of all subjects.
        partly: whether some subjects were left out, by --only.
        torch: the PyTorch of PyPI that it was tested on; None: the source-built one, or none.
    """
    named = {
        "Library": f"`{device.path}`",
        "Options": f"`{device.options}`" if device.options else "none",
        "Devices": ", ".join(f"{count} {name}" for name, count in Counter(device.devices).items()),
    }
    if torch is not None:
        named["PyTorch"] = f"{torch}, unmodified"
    parts = [
        f"# Conformance of {_cell(device.name)}",
        "\n".join(f"- {what}: {value}" for what, value in named.items()),
        _table(
            ("level", "what it is about", "result"),
            ((level, LEVELS[level], result) for level, result in results(outcomes).items()),
        ),
    ]
    if partly:
        parts.append("Some subjects were left out: this is no report of whole levels.")
    rows = (
        (
            each.subject.level,
            each.subject.name,
            each.count(junit.PASSED),
            each.count(junit.FAILED),
            each.count(junit.SKIPPED),
            f"{each.seconds:.1f}",
            each.result + (f": {each.absent}" if each.absent else ""),
        )
        for each in outcomes
    )
    heads = ("level", "subject", "passed", "failed", "skipped", "seconds", "result")
    parts += ["## Subjects", _table(heads, rows)]
    if any(each.subject.rate < 1 for each in outcomes):
        parts.append(
            "Of a file of PyTorch's own tests 95 % have to pass: some launch CUDA code of their own."
        )
    parts += ["## Capabilities", _capabilities(device)]
    skipped = _skipped(outcomes)
    if skipped:
        parts += ["## Skipped", _table(("level", "subject", "tests", "why"), skipped)]
    failed = [each for each in outcomes if each.failures]
    if failed:
        parts.append("## Failures")
        parts += [_failures(each) for each in failed]
    return "\n\n".join(parts) + "\n"


def xml(path: pathlib.Path, outcomes: Iterable[Outcome]) -> None:
    """Writes the report as XML; what is absent or was not run is a skipped test."""
    suites = []
    for each in outcomes:
        cases = each.cases
        if each.absent or cases is None:
            cases = [junit.Case("", "all", junit.SKIPPED, each.absent or NOT_RUN)]
        suites.append(junit.suite_of(each.subject.title, cases))
    junit.write(path, suites)


def _capabilities(device: Device) -> str:
    rows = []
    for capability, without in capabilities.WITHOUT.items():
        lacking = device.lacking(capability)
        if not lacking:
            rows.append((f"`{capability}`", "yes", ""))
        elif len(lacking) == device.count:
            rows.append((f"`{capability}`", "no", without))
        else:
            those = ", ".join(map(str, lacking))
            rows.append((f"`{capability}`", f"not device {those}", without))
    return _table(("capability", "there", "so"), rows)


def _skipped(outcomes: Sequence[Outcome]) -> list[tuple[str, str, int, str]]:
    """What tests were skipped for, subject by subject. The XML alone has the many reasons of PyTorch's own tests."""
    return [
        (each.subject.level, each.subject.name, count, why)
        for each in outcomes
        for why, count in Counter(
            case.message for case in each.cases or () if case.outcome == junit.SKIPPED
        ).items()
        if why and each.subject.rate == 1
    ]


def _failures(outcome: Outcome) -> str:
    parts = [f"### {outcome.subject.level}: {outcome.subject.name}"]
    if outcome.repeat:
        parts.append(f"To repeat it: `{outcome.repeat}`")
    for case in outcome.failures:
        lines = case.message.splitlines() or ["no message"]
        shown = lines if len(lines) <= _LINES else [*lines[:2], "…", *lines[3 - _LINES :]]
        # Four spaces make a block of code, whatever is in the message.
        parts.append(f"`{case.title}`" + "\n\n" + "\n".join("    " + line for line in shown))
    return "\n\n".join(parts)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def summary(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """One line for each level, for the end of a run."""
    lines = {}
    for level, result in results(outcomes).items():
        those = [each for each in outcomes if each.subject.level == level]
        count = Counter(each.result for each in those)
        told = ", ".join(f"{number} {name}" for name, number in count.items())
        lines[level] = f"{result} ({told})"
    return lines
