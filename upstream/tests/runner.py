"""Runs the tests of one of upstream's files in processes of their own, and judges what becomes of them.

A file's process is started anew, without the tests that are done, when a test crashes it or is interrupted.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from upstream.tests import results, selection
from upstream.tests.outside import Outside

HERE = pathlib.Path(__file__).resolve().parent
# A process that writes nothing for this much longer than one test may take is given up.
_GRACE_SECONDS = 60


@dataclass(frozen=True)
class Job:
    """Some tests of one file.

    Attributes:
        file: upstream's test file.
        name: its name in selection.py.
        expression: pytest's -k.
        record: where outcomes are written; what it has already is not run again.
        seconds: for one test.
        parts: one test of so many is run (recorder.in_slice); 1: all.
        left_out: tests that are not run.
        devices: what they are run on (selection.devices); empty: as the environment says.
    """

    file: pathlib.Path
    name: str
    expression: str
    record: pathlib.Path
    seconds: int
    parts: int = 1
    left_out: tuple[str, ...] = ()
    devices: str = ""


def environment(
    job: Job, record: pathlib.Path, done: pathlib.Path, rank: int | None = None
) -> dict[str, str]:
    """The environment of a process that runs tests; of several together, the first one records.

    Raises:
        FileNotFoundError: there is no LLVM where CUDASIM_LLVM says: kernels would be interpreted.
    """
    path = [str(HERE / "substitutes"), str(HERE.parent.parent), *sys.path]
    chosen = {"TORCH_CUDA_DEVICES": selection.devices(job.devices, job.name)}
    llvm = os.environ.get("CUDASIM_LLVM")
    return {
        **selection.settings(job.name),
        **os.environ,
        # The tests run in another folder.
        **({"CUDASIM_LLVM": str(pathlib.Path(llvm).resolve(strict=True))} if llvm else {}),
        **(chosen if job.devices else {}),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cuda",
        "CUDASIM_MEMORY": os.environ.get("CUDASIM_MEMORY", "8G"),
        "UPSTREAM_RECORD": "" if rank else str(record),
        "UPSTREAM_SECONDS": str(job.seconds),
        "UPSTREAM_PARTS": str(job.parts),
        "UPSTREAM_SKIP": str(done),
        "UPSTREAM_RANK": "" if rank is None else str(rank),
        "UPSTREAM_RENDEZVOUS": str(record.with_suffix(".rendezvous")),
        "TEMP_DIR": str(record.with_suffix(".files")),
    }


@contextlib.contextmanager
def other_ranks(
    job: Job, start: Callable[[int], subprocess.Popen[bytes]], record: pathlib.Path
) -> Iterator[None]:
    """Runs the processes beside the first one, where a file's tests take several; ends them."""
    record.with_suffix(".rendezvous").unlink(missing_ok=True)
    processes = [start(rank) for rank in range(1, selection.RANKS.get(job.name, 1))]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def read(record: pathlib.Path) -> list[results.Result]:
    """What a record says; nothing when there is none yet."""
    if not record.is_file():
        return []
    with record.open(encoding="utf-8") as lines:
        return results.read_record(lines)


def run_file(job: Job, record: pathlib.Path, skipped: Collection[str] = ()) -> list[results.Result]:
    """Runs the tests of one file, process after process, until all are done.

    Args:
        job: what to run.
        record: where outcomes are written.
        skipped: tests that are left out.
    """
    command = [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q", "--no-header"]
    command += ["--tb=short", "-p", "upstream.tests.recorder", "-p", "no:cacheprovider"]
    command += [job.file.name] + (["-k", job.expression] if job.expression else [])
    done = record.with_suffix(".done")
    found = read(record)
    # test_distributed_spawn.py meets at files in these.
    for folder in ("barrier", "test_dir"):
        (record.with_suffix(".files") / folder).mkdir(parents=True, exist_ok=True)
    while True:
        before = len(found)
        names = [*(result.test for result in found), *skipped, *job.left_out]
        done.write_text("\n".join(names), encoding="utf-8")
        record.touch()  # from now on, its age says how long the process has been silent
        with record.with_suffix(".log").open("ab") as log:

            def start(rank: int | None) -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    command,
                    cwd=job.file.parent,
                    env=environment(job, record, done, rank),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )

            with other_ranks(job, start, record):
                process = start(0 if job.name in selection.RANKS else None)
                watch(process, record, job)
        found = read(record)
        # pytest: 0 all passed, 1 some failed, 5 nothing left to run; 2: a test was interrupted.
        # Anything else is a crash.
        if process.returncode in (0, 1, 5) or len(found) == before:
            return found


def run_and_judge(
    job: Job, known: Collection[results.Known], outside: Outside, complete: bool
) -> results.Verdict:
    """Runs the tests of one file, and those that fail unexpectedly once more without the others.

    Args:
        job: what to run; the second run's record lies beside the first's.
        known: what does not pass.
        outside: the operators that were not built.
        complete: whether these are all tests of the file.
    """
    found = run_file(job, job.record)
    verdict = results.judge(found, known, outside, complete)
    doubtful = {result.test for result in verdict.unexpected}
    if not doubtful:
        return verdict
    others = [result.test for result in found if result.test not in doubtful]
    again = run_file(job, job.record.with_suffix(".again.jsonl"), others)
    return results.judge(results.merge(found, again), known, outside, complete)


def watch(process: subprocess.Popen[bytes], record: pathlib.Path, job: Job) -> None:
    """Shows progress while a process runs, and ends it when it stays silent."""
    while process.poll() is None:
        time.sleep(0.5)
        age = time.time() - record.stat().st_mtime if record.is_file() else 0.0
        lines = record.read_bytes().count(b'"outcome"') if record.is_file() else 0
        if sys.stdout.isatty():
            print(f"{job.name}: {lines} tests", end="\r", flush=True)
        if age > job.seconds + _GRACE_SECONDS:
            process.kill()


def summarize(name: str, verdict: results.Verdict) -> None:
    """Prints one line about a file, or about all."""
    print(
        f"{name}: {verdict.passed} passed, {len(verdict.order_dependent)} order-dependent, "
        f"{verdict.known} failed as listed, {len(verdict.unexpected)} failed unexpectedly; "
        f"{verdict.outside} are not in the profile, {verdict.skipped} skipped; "
        f"{verdict.rate:.1%} of the profile's passed"
    )


def report(name: str, verdict: results.Verdict) -> None:
    """Prints what there is to say about a file."""
    summarize(name, verdict)
    for result in (*verdict.unexpected, *verdict.order_dependent):
        print(f"  {result.outcome} {result.test}: {result.reason}")
    for entry in verdict.needless:
        print(f"  take out of known.toml, nothing fails like this: {entry.tests} {entry.message}")
