"""Runs the process of a subject, and reads what became of its tests, whatever became of it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

from tests.conformance import junit

_SIGN_OF_LIFE = 30.0
"""Seconds between two lines about a process that runs."""
_TAIL = 3000
"""Characters of what a process wrote last that are kept of one that failed."""


class StoppedError(Exception):
    """Somebody ended the run; the process is gone."""


# gtest and absltest begin and end a test so.
_BEGUN = re.compile(r"^\[ RUN +\] (\S+)", re.MULTILINE)
_ENDED = re.compile(r"^\[ +(?:OK|FAILED|SKIPPED) +\] (\S+)", re.MULTILINE)
# training/topic.py says so why a test is skipped.
_REASON = re.compile(r"^\[ REASON +\] (\S+): (.*)$", re.MULTILINE)

# No test ends its own process so.
_ENDED_FROM_OUTSIDE = (-signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM)


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    xml: pathlib.Path,
    log: pathlib.Path,
    seconds: int,
    say: Callable[[str], None],
    is_stopped: Callable[[], bool],
) -> list[junit.Case]:
    """Runs a process to its end, and gives the outcomes of its tests.

    What no test says has an outcome of its own: a process that crashed, took too long, or failed though its tests
    passed. Nothing of it is left, even when the run is stopped.

    Args:
        command: writes JUnit's XML.
        environment: of the process.
        xml: what it writes.
        log: what it says is written there.
        seconds: until it is given up.
        say: shows progress.
        is_stopped: asked several times a second. A signal's handler that raises could do so while the process is
            being made, and leave it behind.

    Raises:
        StoppedError: it was stopped, or somebody ended the process, as who ends a session does.
    """
    xml.unlink(missing_ok=True)
    begin = time.monotonic()
    late = False
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            late = not _wait(process, log, begin + seconds, say, is_stopped)
        finally:
            # It may have started others, which may outlive it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if not late and process.returncode in _ENDED_FROM_OUTSIDE:
        raise StoppedError
    text = log.read_text(encoding="utf-8", errors="replace")
    cases = []
    wrong = f"took longer than {seconds} s" if late else ""
    if xml.is_file():
        try:
            cases = _with_reasons(junit.read(xml), text)
        except ValueError as damaged:
            wrong = wrong or str(damaged)
    else:
        wrong = wrong or f"{_describe(process.returncode)} before it had written its results"
    if not wrong and process.returncode != 0 and all(c.outcome != junit.FAILED for c in cases):
        wrong = f"{_describe(process.returncode)} though no test had failed"
    if not wrong and not cases:
        wrong = "has no tests"
    if wrong:
        where = _unfinished(text)
        message = f"the process {wrong}{where and f', in {where}'}\n{text[-_TAIL:]}"
        cases.append(junit.Case("", "process", junit.FAILED, message, time.monotonic() - begin))
    return cases


def _wait(
    process: subprocess.Popen[bytes],
    log: pathlib.Path,
    end: float,
    say: Callable[[str], None],
    is_stopped: Callable[[], bool],
) -> bool:
    """Whether the process has ended in time."""
    begin = said = time.monotonic()
    while time.monotonic() < end:
        if is_stopped():
            raise StoppedError
        try:
            process.wait(0.2)
            return True
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if now - said >= _SIGN_OF_LIFE:
            said = now
            lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            say(f"  {now - begin:.0f} s: {last[:100]}")
    return False


def _describe(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    return f"was ended by {signal.Signals(-status).name}"


def _with_reasons(cases: Sequence[junit.Case], text: str) -> list[junit.Case]:
    """The cases; those that were skipped and have no message have what was said."""
    reasons = dict(_REASON.findall(text))
    return [
        dataclasses.replace(case, message=reasons.get(case.title, ""))
        if case.outcome == junit.SKIPPED and not case.message
        else case
        for case in cases
    ]


def _unfinished(text: str) -> str:
    """The test that had begun and not ended, or ""."""
    begun = _BEGUN.findall(text)
    ended = {name.rstrip(",") for name in _ENDED.findall(text)}
    return begun[-1] if begun and begun[-1] not in ended else ""
