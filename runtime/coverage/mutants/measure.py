"""Finds out which functions the tests of the drop-in libraries check: each in turn answers wrongly, and a test must fail.

    ./bazelw run //runtime/coverage/mutants:measure                         all: some ten minutes on two cores
    ./bazelw run //runtime/coverage/mutants:measure -- --function cudaMalloc --function cudaFree

A function that a test calls answers wrongly in two ways: it does nothing and says that it went well, and it does its
work and says that it failed. A test notices when it fails, crashes or hangs. functions.json has the result, from which
`./bazelw run //runtime/coverage:update` makes the page.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent import futures
from dataclasses import dataclass

from runtime.coverage.mutants import answers

_SECONDS = 60
# Of the names in --gtest_filter; a command line has an end.
_MOST_TESTS = 200


class MeasureError(Exception):
    """A test fails although nothing answers wrongly; the text says which."""


@dataclass(frozen=True)
class Program:
    """A test whose calls go through hooks.

    Attributes:
        label: of the test that it is a mutant of.
        path: of the program.
    """

    label: str
    path: pathlib.Path

    def run(self, arguments: Sequence[str] = (), **more: str) -> bool:
        """Runs it, and tells whether it ended well."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = subprocess.run(
                    [self.path.resolve(), *arguments],
                    # Files of one test are not found by the next.
                    env={**os.environ, "TEST_TMPDIR": folder, **more},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return False
        return done.returncode == 0


def calls(program: Program) -> dict[str, list[str]]:
    """The functions that a program calls, with the tests that do, but for tests that the hooks themselves make fail.

    Raises:
        MeasureError: it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder, "calls")
        passed = program.run(COVERAGE_CALLS=str(record))
        text = record.read_text(encoding="utf-8") if record.is_file() else ""
    found = collections.defaultdict(list)
    for line in text.splitlines():
        test, function = line.split("\t")
        found[function].append(test)
    failed = found.pop("", [])
    if not found or not (passed or failed):
        raise MeasureError(f"{program.label} fails; repair it first")
    if failed:
        print(f"{program.label}: left out, because hooks make them fail: {', '.join(failed)}")
    return dict(found)


def notices(program: Program, function: str, mutation: str, tests: Sequence[str]) -> bool:
    """Whether one of a program's tests fails when a function answers wrongly.

    Args:
        program: that calls it.
        function: its name.
        mutation: one of answers.MUTATIONS.
        tests: those of the program that call it; an empty name: something outside of tests.
    """
    arguments = ["--gtest_fail_fast", "--gtest_brief=1"]
    if all(tests) and len(tests) <= _MOST_TESTS:
        arguments.append("--gtest_filter=" + ":".join(tests))
    return not program.run(arguments, COVERAGE_MUTANT=f"{function}={mutation}")


def measure(programs: Sequence[Program], functions: Sequence[str], jobs: int) -> answers.Answers:
    """What the programs notice.

    Args:
        programs: all of them.
        functions: which functions; none: all.
        jobs: how many programs run at a time.
    """
    found: answers.Answers = {}
    with futures.ThreadPoolExecutor(jobs) as pool:
        pending = {}
        for program, called in zip(programs, pool.map(calls, programs), strict=True):
            for function, tests in called.items():
                if functions and function not in functions:
                    continue
                found.setdefault(function, {})[program.label] = []
                for mutation in answers.MUTATIONS:
                    job = pool.submit(notices, program, function, mutation, tests)
                    pending[job] = (program.label, function, mutation)
        for number, job in enumerate(futures.as_completed(pending), 1):
            label, function, mutation = pending[job]
            if job.result():
                found[function][label].append(mutation)
            if number % 50 == 0:
                print(f"{number} of {len(pending)}", flush=True)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Writes functions.json; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--program", action="append", nargs=2, required=True, metavar=("LABEL", "PATH")
    )
    parser.add_argument("--function", action="append", default=[], help="default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--output", type=pathlib.Path, required=True, help="relative to the workspace"
    )
    args = parser.parse_args(argv)
    programs = [Program(label, pathlib.Path(path)) for label, path in args.program]
    output = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), args.output)
    try:
        found = measure(programs, args.function, args.jobs)
    except MeasureError as error:
        print(error, file=sys.stderr)
        return 1
    if args.function:
        old = json.loads(output.read_text(encoding="utf-8"))
        found = {**old, **found}
    output.write_text(answers.render(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
