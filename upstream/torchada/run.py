"""Runs torchada's own tests on the stand-in, with the adapter as `torchada`.

    ./bazelw run //upstream/torchada:run                             all, and writes docs/coverage/adapter-torchada.md
    ./bazelw run //upstream/torchada:run -- --file test_platform.py  one file, against its row of the page

What does not pass is listed with its reason in known.toml. A failure that is not listed, an entry that is of no use any
more, a test that was not run and a row that is not the page's end in exit status 1.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Sequence

from upstream.tests import results, runner
from upstream.tests.outside import Outside
from upstream.torchada import answers, applicability, page

FILES = (
    "test_cuda_patching.py",
    "test_device_strings.py",
    "test_cpp_extension.py",
    "test_extension_build.py",
    "test_tensor_cuda_torch_function_mode.py",
    "test_infer_schema_device.py",
    "test_fx_device_builtin.py",
    "test_mappings.py",
    "test_inplace_porting.py",
    "test_platform.py",
)
"""The files whose tests are about what the adapter does."""

_ENVIRONMENT = {
    "PYTEST_ADDOPTS": "-p upstream.torchada.plugin",
    "TORCH_CUDA_DISABLE": "1",
    "TORCH_STAND_IN_DEVICE": "count=2,memory=1G",
}
_SECONDS = 300
_REASONS = frozenset(reason.value for reason in applicability.Reason)
_KNOWN = pathlib.Path(__file__).parent / "known.toml"


def run(file: pathlib.Path, folder: pathlib.Path) -> page.Outcome:
    """Runs the tests of a file, and prints what there is to say.

    Args:
        file: torchada's test file.
        folder: for records.
    """
    job = runner.Job(file, file.name, "", folder / f"{file.name}.jsonl", _SECONDS)
    found = runner.run_file(job, job.record)
    applicable = [result for result in found if result.outcome not in _REASONS]
    ran = {result.test.partition("[")[0] for result in found}
    missing = [
        results.Result(test, results.FAILED, "was not run")
        for test in applicability.read(file, answers.ANSWERED)
        if test not in ran
    ]
    known = results.read_known(_KNOWN.read_text(encoding="utf-8"), file.name)
    verdict = results.judge([*applicable, *missing], known, Outside(), complete=True)
    outcome = page.outcome(verdict, found, applicable)
    print(
        f"{file.name}: {verdict.passed} passed, {verdict.known} failed as listed, "
        f"{len(verdict.unexpected)} failed unexpectedly, {verdict.skipped} skip themselves; "
        f"{sum(outcome.left_out.values())} are not applicable"
    )
    for result in verdict.unexpected:
        print(f"  {result.outcome} {result.test}: {result.reason}")
    for entry in verdict.needless:
        print(f"  take out of known.toml, nothing fails like this: {entry.tests} {entry.message}")
    if not outcome.sound:
        print(job.record.with_suffix(".log").read_text(encoding="utf-8")[-4000:])
    return outcome


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the chosen files; returns the exit status."""
    parser = argparse.ArgumentParser(description="Run torchada's own tests on the stand-in.")
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="a file of torchada's")
    parser.add_argument("--page", type=pathlib.Path, required=True, help="with the table")
    parser.add_argument("--file", action="append", choices=FILES, help="a file; default: all")
    options = parser.parse_args(argv)
    os.environ.update(_ENVIRONMENT)
    tests = options.tests.resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        outcomes = {name: run(tests / name, pathlib.Path(folder)) for name in options.file or FILES}
    sound = all(outcome.sound for outcome in outcomes.values())
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if sound and workspace and not options.file:
        known = _KNOWN.read_text(encoding="utf-8")
        text = page.render(outcomes, {name: results.read_known(known, name) for name in outcomes})
        pathlib.Path(workspace, options.page).write_text(text, encoding="utf-8")
        return 0
    recorded = options.page.read_text(encoding="utf-8").splitlines()
    for row in [page.row(name, outcome) for name, outcome in outcomes.items()]:
        if row not in recorded:
            print(f"{options.page} lacks {row}\ntype: ./bazelw run //upstream/torchada:run")
            sound = False
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
