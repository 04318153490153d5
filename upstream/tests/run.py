"""Runs PyTorch's own tests against the plugin on a CUDA device.

    ./bazelw run //upstream/tests:run                                   the selected files
    ./bazelw run //upstream/tests:run -- --file test_torch.py -k cumsum
    ./bazelw run //upstream/tests:run -- --record FOLDER                 keeps the records, and goes on from them

Each file runs in a process of its own, which is started anew, without the tests that are done, when
a test crashes it. What does not pass is listed with its reason in known.toml. A failure that is not
listed may come from one before it, whose traceback holds device memory: such tests run once more,
in a new process without the others, and that counts. A failure that is still not listed, and an
entry that is of no use any more, end in exit status 1.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence

from upstream.tests import results, selection

HERE = pathlib.Path(__file__).resolve().parent
# A process that writes nothing for this much longer than one test may take is given up.
_GRACE_SECONDS = 60


def environment(
    file: str, record: pathlib.Path, done: pathlib.Path, seconds: int
) -> dict[str, str]:
    """The environment of a process that runs tests."""
    path = [str(HERE / "standins"), str(HERE.parent.parent), *sys.path]
    return {
        **selection.SETTINGS.get(file, {}),
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cuda",
        "CUDASIM_MEMORY": os.environ.get("CUDASIM_MEMORY", "8G"),
        "UPSTREAM_RECORD": str(record),
        "UPSTREAM_SECONDS": str(seconds),
        "UPSTREAM_SKIP": str(done),
    }


def read(record: pathlib.Path) -> list[results.Result]:
    """What a record says; nothing when there is none yet."""
    if not record.is_file():
        return []
    with record.open(encoding="utf-8") as lines:
        return results.read_record(lines)


def run_file(
    file: pathlib.Path,
    expression: str,
    record: pathlib.Path,
    seconds: int,
    skipped: Collection[str] = (),
) -> list[results.Result]:
    """Runs the tests of one file, process after process, until all are done.

    Args:
        file: upstream's test file.
        expression: pytest's -k.
        record: where outcomes are written; what it has already is not run again.
        seconds: for one test.
        skipped: tests that are left out.
    """
    command = [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q", "--no-header"]
    command += ["--tb=short", "-p", "upstream.tests.recorder", "-p", "no:cacheprovider", file.name]
    command += ["-k", expression] if expression else []
    done = record.with_suffix(".done")
    found = read(record)
    while True:
        before = len(found)
        names = [result.test for result in found] + list(skipped)
        done.write_text("\n".join(names), encoding="utf-8")
        record.touch()  # from now on, its age says how long the process has been silent
        with open(record.with_suffix(".log"), "ab") as log:
            process = subprocess.Popen(
                command,
                cwd=file.parent,
                env=environment(file.name, record, done, seconds),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            watch(process, record, file.name, seconds)
        found = read(record)
        # pytest: 0 all passed, 1 some failed, 5 nothing left to run. Anything else is a crash.
        if process.returncode in (0, 1, 5) or len(found) == before:
            return found


def run_and_judge(
    file: pathlib.Path,
    expression: str,
    record: pathlib.Path,
    seconds: int,
    known: Collection[results.Known],
    complete: bool,
) -> results.Verdict:
    """Runs the tests of one file, and those that fail unexpectedly once more.

    Args:
        file: as for `run_file`.
        expression: as for `run_file`.
        record: as for `run_file`; the second run's lies beside it.
        seconds: as for `run_file`.
        known: what does not pass.
        complete: whether `expression` is the usual one.
    """
    found = run_file(file, expression, record, seconds)
    verdict = results.judge(found, known, complete)
    doubtful = {result.test for result in verdict.unexpected}
    if not doubtful:
        return verdict
    others = [result.test for result in found if result.test not in doubtful]
    again = run_file(file, expression, record.with_suffix(".again.jsonl"), seconds, others)
    for result in again:
        if result.outcome == results.PASSED:
            print(f"{file.name}: {result.test} passed when run again without the others")
    return results.judge(results.merge(found, again), known, complete)


def watch(process: subprocess.Popen[bytes], record: pathlib.Path, name: str, seconds: int) -> None:
    """Shows progress while a process runs, and ends it when it stays silent."""
    while process.poll() is None:
        time.sleep(0.5)
        age = time.time() - record.stat().st_mtime if record.is_file() else 0.0
        lines = record.read_bytes().count(b'"outcome"') if record.is_file() else 0
        if sys.stdout.isatty():
            print(f"{name}: {lines} tests", end="\r", flush=True)
        if age > seconds + _GRACE_SECONDS:
            process.kill()


def summarize(name: str, verdict: results.Verdict) -> None:
    """Prints one line about a file, or about all."""
    print(
        f"{name}: {verdict.passed} passed, {verdict.known} failed as listed, "
        f"{len(verdict.unexpected)} failed unexpectedly; {verdict.outside} are not in the profile, "
        f"{verdict.skipped} skipped; {verdict.rate:.1%} of the profile's passed"
    )


def report(name: str, verdict: results.Verdict) -> None:
    """Prints what there is to say about a file."""
    summarize(name, verdict)
    for result in verdict.unexpected:
        print(f"  {result.outcome} {result.test}: {result.reason}")
    for entry in verdict.needless:
        print(f"  take out of known.toml, nothing fails like this: {entry.tests} {entry.message}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the chosen files; returns the exit status."""
    parser = argparse.ArgumentParser(description="Run PyTorch's own tests on a CUDA device.")
    parser.add_argument(
        "--tests", type=pathlib.Path, required=True, help="upstream's folder test, or a file in it"
    )
    parser.add_argument("--file", action="append", help="a file; default: the selected ones")
    parser.add_argument("-k", dest="expression", help="pytest's -k, in place of the usual one")
    parser.add_argument("--seconds", type=int, default=900, help="for one test (default: 900)")
    parser.add_argument("--record", type=pathlib.Path, help="folder to keep records in")
    options = parser.parse_args(argv)
    tests = options.tests.resolve()
    tests = tests.parent if tests.is_file() else tests
    known = (HERE / "known.toml").read_text(encoding="utf-8")
    names = options.file or list(selection.SELECTED)
    for name in names:
        if not (tests / name).is_file():
            parser.error(f"{tests} has no {name}")
    verdicts = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.record or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            usual = selection.SELECTED.get(name, "")
            record = (folder / name.replace("/", ".")).with_suffix(".jsonl").resolve()
            verdict = run_and_judge(
                tests / name,
                usual if options.expression is None else options.expression,
                record,
                options.seconds,
                results.read_known(known, name),
                complete=options.expression is None,
            )
            report(name, verdict)
            verdicts.append(verdict)
    if len(verdicts) > 1:
        summarize("all", results.total(verdicts))
    status = any(
        verdict.unexpected or verdict.needless or not verdict.passed for verdict in verdicts
    )
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
