"""A pytest plugin that writes what becomes of each test, one JSON object a line, as it happens.

The runner reads the lines of a process that may crash or hang at any time: a test that was started
and has no outcome is the one that took the process with it.

Environment:
  UPSTREAM_RECORD: file to append to.
  UPSTREAM_SECONDS: a test that takes longer is interrupted and counts as failed. The process ends with it: what the
    test has begun, in threads of its own, would go on beside the tests after it.
  UPSTREAM_SKIP: file with names of tests, one a line, that are not run again.
  UPSTREAM_PARTS: one test of so many is run; 1, the default: all.
  UPSTREAM_RANK: the place of this process among those that run the file's tests together.
  UPSTREAM_RENDEZVOUS: file where these meet.
"""

from __future__ import annotations

import gc
import json
import os
import pathlib
import signal
import sys
import zlib
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

_RECORD = os.environ.get("UPSTREAM_RECORD", "")
_SECONDS = int(os.environ.get("UPSTREAM_SECONDS", "60"))
_SKIP = os.environ.get("UPSTREAM_SKIP", "")
_PARTS = int(os.environ.get("UPSTREAM_PARTS", "1"))
_RANK = os.environ.get("UPSTREAM_RANK", "")
_RENDEZVOUS = os.environ.get("UPSTREAM_RENDEZVOUS", "")


# Whether a test was interrupted.
_interrupted = False


class TooSlowError(Exception):
    """A test took longer than it may."""


def _interrupt(signal_number: int, frame: FrameType | None) -> None:
    global _interrupted
    _interrupted = True
    raise TooSlowError(f"longer than {_SECONDS} s")


def write(**fields: object) -> None:
    """Appends a line to the record, if there is one."""
    if _RECORD:
        with pathlib.Path(_RECORD).open("a", encoding="utf-8") as record:
            record.write(json.dumps(fields) + "\n")


def name_of(node_id: str) -> str:
    """Class and method of a test: "TestTorchDeviceTypeCUDA.test_cumsum_cuda"."""
    return ".".join(node_id.split("::")[1:])


def in_slice(name: str, parts: int) -> bool:
    """Whether a test is in the slice of one out of `parts`.

    The name alone decides, so a test that upstream adds moves no other one in or out.
    """
    return zlib.crc32(name.encode()) % parts == 0


def reason(report: str) -> str:
    """The line of a failure's report that says why, at most 200 characters."""
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return ([*errors, *reversed(lines), ""])[0][:200]


def _why(report: pytest.TestReport) -> str:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")[:200]
    return reason(str(report.longrepr)) if report.outcome == "failed" else ""


def _join_ranks(items: list[pytest.Item]) -> None:
    # What upstream's run_rank does for classes that derive from MultiProcContinousTest.
    for item in items:
        group: Any = getattr(item, "cls", None)
        if hasattr(group, "rdvz_file"):
            group.rank = int(_RANK)
            group.rdvz_file = _RENDEZVOUS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out the tests that are not in the slice, and those that an earlier process has finished."""
    items[:] = [item for item in items if in_slice(name_of(item.nodeid), _PARTS)]
    if _SKIP and pathlib.Path(_SKIP).is_file():
        done = set(pathlib.Path(_SKIP).read_text(encoding="utf-8").splitlines())
        items[:] = [item for item in items if name_of(item.nodeid) not in done]
    if _RANK:
        _join_ranks(items)
    # Each full collection would look at all modules and tests again: half a second in many files.
    gc.freeze()
    write(collected=len(items))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Notes the start of a test and limits its time."""
    write(started=name_of(item.nodeid))
    signal.signal(signal.SIGALRM, _interrupt)
    signal.alarm(_SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Has no test follow one that was interrupted."""
    if _interrupted:
        item.session.shouldstop = f"{name_of(item.nodeid)} was interrupted"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Ends a process with a test in it that was interrupted, without waiting for the test's threads."""
    if _interrupted:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(pytest.ExitCode.INTERRUPTED)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes the outcome of a test, or of a setup that did not pass."""
    if report.when == "call" or report.outcome != "passed":
        write(
            test=name_of(report.nodeid),
            outcome=report.outcome,
            reason=_why(report),
            seconds=round(report.duration, 2),
        )
