"""A pytest plugin that writes down each test's outcome at once, and leaves out the tests that are written down.

So a run that ends early, by a crash or by a person, goes on where it was. A test that takes too long ends the process,
whatever it waits for. Needs nothing but pytest: it is loaded in the environment of the tests.
"""

from __future__ import annotations

import faulthandler
import json
import os
import pathlib
import re
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

FILE = "STRANGERS_JOURNAL"
"""The variable that names the journal: JSON, a line an entry."""
SECONDS = "STRANGERS_SECONDS"
"""The variable that says how long a test may take."""
SHARE = "STRANGERS_SHARE"
"""The variable that says how many tests of a hundred run: the same ones each time, drawn by their names."""
AT_FAULT = 70
"""The exit status of a process whose device is at fault: the tests that are left need another one."""

# pytest sends what tests write to the error output elsewhere, once it has loaded its plugins.
_ERRORS = os.dup(2) if os.environ.get(FILE) else None
_WORST = ("passed", "skipped", "failed")
# Errors after which every call of the process fails (CUDA driver API, CUresult), as drivers and guests write them.
_LASTING = re.compile(
    "ILLEGAL_ADDRESS|ILLEGAL_INSTRUCTION|LAUNCH_FAILED|LAUNCH_TIMEOUT|MISALIGNED_ADDRESS|CUDA_ERROR_ASSERT|"
    "cudaError(IllegalAddress|LaunchFailure|Assert)|illegal memory access|unspecified launch failure|"
    "device-side assert"
)
# A device's error that a run of checks left behind is told in the last lines.
_MESSAGE = 2000


class Journal:
    """Writes entries: {"start": test}, and {"test": …, "outcome": …, "seconds": …, "message": …} behind it.

    Args:
        path: of the journal, which may have entries.
        seconds: how long a test may take.
        share: of the tests, in percent.
    """

    def __init__(self, path: str, seconds: float, share: int = 100) -> None:
        self._seconds = seconds
        self._share = share
        self._reports: list[Any] = []
        self._known: set[str] = set()
        file = pathlib.Path(path)
        if file.exists():
            entries = map(json.loads, file.read_text(encoding="utf-8").splitlines())
            self._known = {entry["test"] for entry in entries if "test" in entry}
        self._file = file.open("a", encoding="utf-8")

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leaves out what is written down, and starts a fresh process's order from the files' own."""
        left = [item for item in items if self._is_left(item.nodeid)]
        config.hook.pytest_deselected(
            items=[item for item in items if not self._is_left(item.nodeid)]
        )
        items[:] = left

    def _is_left(self, test: str) -> bool:
        return test not in self._known and zlib.crc32(test.encode()) % 100 < self._share

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported is one test that fails."""
        if report.failed and report.nodeid not in self._known:
            self._write(
                {
                    "test": report.nodeid,
                    "outcome": "failed",
                    "seconds": 0.0,
                    "message": str(report.longrepr)[-_MESSAGE:],
                }
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Notes who runs."""
        self._reports = []
        self._write({"start": item.nodeid})
        assert _ERRORS is not None
        faulthandler.dump_traceback_later(self._seconds, exit=True, file=_ERRORS)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()
            if self._finish(item.nodeid):
                sys.stdout.flush()
                os._exit(AT_FAULT)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Takes the report of a part of a test: setup, call, subtests, teardown."""
        if report.outcome == "rerun":
            # Of pytest-rerunfailures: an attempt that does not count, and neither do its earlier parts.
            self._reports = []
        else:
            self._reports.append(report)

    def _finish(self, test: str) -> bool:
        """Writes a test's outcome; returns whether the device is at fault from now on."""
        outcomes = [report.outcome for report in self._reports]
        worst = max(outcomes, key=_WORST.index, default="failed")
        said = [str(report.longrepr) for report in self._reports if report.outcome == worst]
        message = "" if worst == "passed" else "\n".join(said)
        self._write(
            {
                "test": test,
                "outcome": worst,
                "seconds": round(sum(report.duration for report in self._reports), 2),
                "message": message[-_MESSAGE:],
            }
        )
        return worst == "failed" and _LASTING.search(message[-_MESSAGE:]) is not None


def pytest_configure(config: Any) -> None:
    """Registers the journal."""
    if os.environ.get(FILE):
        seconds = float(os.environ.get(SECONDS, "300"))
        share = int(os.environ.get(SHARE, "100"))
        config.pluginmanager.register(
            Journal(os.environ[FILE], seconds, share), "strangers-journal"
        )
