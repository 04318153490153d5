"""Runs one of PyTorch's own test files, or a slice of it, on the device, and writes JUnit's XML.

What known.toml of upstream/tests lists, and what asks for an operator outside of the profile, is no matter of the
device: it counts as skipped.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Collection, Iterable

from tests.conformance import junit
from upstream.tests import results, runner, selection
from upstream.tests.outside import Outside

_SECONDS = 900
"""For one test."""


def main() -> int:
    """Runs the tests; returns 0 when none failed."""
    parser = argparse.ArgumentParser(description="Run a file of PyTorch's own tests.")
    for name in ("tests", "full", "built", "junit", "record"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--file", required=True)
    parser.add_argument("--slice", action="store_true", help="as slice_test.py has it")
    options = parser.parse_args()
    name = options.file
    options.record.mkdir(parents=True, exist_ok=True)
    job = runner.Job(
        file=options.tests.resolve().parent / name,
        name=name,
        expression=selection.SELECTED[name],
        record=(options.record / "tests.jsonl").absolute(),
        seconds=_SECONDS,
        parts=selection.SLICES[name] if options.slice else 1,
        left_out=selection.LONG.get(name, ()) if options.slice else (),
    )
    text = (runner.HERE / "known.toml").read_text(encoding="utf-8")
    known = results.read_known(text, name, _devices())
    verdict = runner.run_and_judge(
        job, known, Outside.read(options.full, options.built), complete=False
    )
    runner.summarize(name, verdict)
    failed = {each.test: each for each in (*verdict.unexpected, *verdict.order_dependent)}
    cases = list(_cases(runner.read(job.record), failed.values()))
    junit.write(options.junit, [junit.suite_of(name, cases)])
    return int(bool(failed))


def _devices() -> str:
    """Whose entries of known.toml hold: those of fake, wherever the CPU's kernels serve."""
    import torch_cuda

    return "" if torch_cuda.served_by("aten::add.Tensor") == "upstream" else "fake"


def _cases(
    found: Iterable[results.Result], failed: Collection[results.Result]
) -> Iterable[junit.Case]:
    reasons = {each.test: f"{each.outcome}: {each.reason}" for each in failed}
    for result in found:
        suite, _, name = result.test.rpartition(".")
        if result.test in reasons:
            yield junit.Case(suite, name, junit.FAILED, reasons[result.test], result.seconds)
        elif result.outcome == results.PASSED:
            yield junit.Case(suite, name, junit.PASSED, "", result.seconds)
        else:
            yield junit.Case(suite, name, junit.SKIPPED, result.reason, result.seconds)


if __name__ == "__main__":
    sys.exit(main())
