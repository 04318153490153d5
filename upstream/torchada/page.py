"""The page that says what becomes of torchada's tests."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping

from upstream.tests.results import SKIPPED, Known, Result, Verdict, total
from upstream.torchada.applicability import Reason

_HEAD = """# torchada's own tests

The tests of torchada 0.1.103, from its sdist, run unmodified on the
[stand-in](../../adapter/testing/stand_in/README.md) with the adapter as `torchada`.
`./bazelw run //upstream/torchada:run` runs them and writes this page. A failure that is not listed below fails the run,
and so does a listed test that passes.

A test is applicable unless its text says otherwise
([applicability.py](../../upstream/torchada/applicability.py)). Each case of a test with parameters counts.

| not applicable | |
|---|---|
| private | names something of torchada whose name begins with an underscore |
| own files | reads files that torchada ships: its own source, its headers for PyTorch's stable ABI |
| not in the sdist | reads `tests/csrc`, which the sdist lacks |
| MUSA only | is marked so, skips itself without MUSA, or does nothing without it |

Three private names are supported: torchada's tables of translations, `_MAPPING_RULE` and `EXT_REPLACED_MAPPING`, and
the function that applies them. The adapter's translation for MUSA takes their place
([answers.py](../../upstream/torchada/answers.py)). Only tests in `test_mappings.py` ask for them.

"""

_REASONS = tuple(Reason)
# Where the tests of torchada's tables are.
_TABLES = "test_mappings.py"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of the tests of a file.

    Attributes:
        verdict: on those that are applicable.
        left_out: how many are not, by reason.
        skipped: the applicable ones that skip themselves.
    """

    verdict: Verdict
    left_out: Mapping[Reason, int]
    skipped: tuple[Result, ...]

    @property
    def sound(self) -> bool:
        """Whether all failures are listed, and all that is listed fails."""
        return not self.verdict.unexpected and not self.verdict.needless


def outcome(verdict: Verdict, found: Collection[Result], applicable: Collection[Result]) -> Outcome:
    """Puts together what became of the tests of a file.

    Args:
        verdict: on those that are applicable.
        found: all.
        applicable: those that are.
    """
    counts = Counter(result.outcome for result in found)
    return Outcome(
        verdict,
        {reason: counts[reason.value] for reason in _REASONS},
        tuple(result for result in applicable if result.outcome == SKIPPED),
    )


def row(name: str, outcome: Outcome) -> str:
    """The row of a file."""
    return _row(f"`{name}`", outcome.verdict, outcome.left_out)


def render(outcomes: Mapping[str, Outcome], known: Mapping[str, Collection[Known]]) -> str:
    """The page's text.

    Args:
        outcomes: of all files, by their names.
        known: what is listed as not passing, by file.
    """
    heads = ["file", "passed", "failed as listed", "skips itself", *(r.value for r in _REASONS)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += [row(name, outcome) for name, outcome in outcomes.items()]
    everything = total([outcome.verdict for outcome in outcomes.values()])
    left_out = sum((Counter(outcome.left_out) for outcome in outcomes.values()), Counter[Reason]())
    lines.append(_row("all", everything, left_out))
    others = [outcome.verdict for name, outcome in outcomes.items() if name != _TABLES]
    lines += [
        "",
        f"Of the applicable tests {_rate(everything)} pass; without `{_TABLES}` {_rate(total(others))}.",
        "",
    ]
    lines += ["## What does not pass", "", "| file | test | reason |", "|---|---|---|"]
    for name, entries in known.items():
        lines += [_line([f"`{name}`", f"`{entry.tests}`", entry.because]) for entry in entries]
    for name, outcome in outcomes.items():
        lines += [
            _line([f"`{name}`", f"`{result.test}`", f"skips itself: {result.reason}"])
            for result in outcome.skipped
        ]
    return _HEAD + "\n".join(lines) + "\n"


def _rate(verdict: Verdict) -> str:
    return f"{verdict.passed} of {verdict.passed + verdict.known} ({verdict.rate:.1%})"


def _row(name: str, verdict: Verdict, left_out: Mapping[Reason, int]) -> str:
    counts = [verdict.passed, verdict.known, verdict.skipped]
    return _line([name, *counts, *(left_out[reason] for reason in _REASONS)])


def _line(cells: Collection[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"
