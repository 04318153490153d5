"""Groups of processes, each with a CUDA device of its own, and what became of them.

Every group has a deadline: what still runs by then is killed, and the test fails.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

DEADLINE = 240.0
"""Seconds until a group is given up; a loaded machine needs many to import torch four times."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one process did.

    Attributes:
      code: its exit status; negative for the signal that ended it.
      out: its standard output.
      err: its standard error.
    """

    code: int
    out: str
    err: str


class LateError(AssertionError):
    """Processes were still running at the deadline."""


def environment(devices: int, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of processes that see some simulated devices (or the GPUs that are there).

    Args:
      devices: how many.
      extra: variables to add.

    Returns:
      The environment.
    """
    return {
        **os.environ,
        "CUDASIM_DEVICES": str(devices),
        "OMP_NUM_THREADS": "1",
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        **(extra or {}),
    }


def run(
    script: pathlib.Path,
    program: str,
    size: int,
    arguments: Sequence[str] = (),
    extra: Mapping[str, str] | None = None,
    deadline: float = DEADLINE,
) -> list[Outcome]:
    """Runs a program in several processes that belong together.

    Args:
      script: the Python file; it is called with `program`, `--` and the arguments.
      program: which of its programs.
      size: how many processes; each finds RANK, WORLD_SIZE and STORE (a file to meet at).
      arguments: of the program.
      extra: environment variables to add.
      deadline: in seconds.

    Returns:
      What each process did, by rank.

    Raises:
      LateError: one did not end in time; the text has what all of them wrote.
    """
    with tempfile.TemporaryDirectory() as folder:
        logs = [pathlib.Path(folder) / f"rank{rank}" for rank in range(size)]
        processes = []
        for rank, log in enumerate(logs):
            log.mkdir()
            with (log / "out").open("wb") as out, (log / "err").open("wb") as err:
                processes.append(
                    subprocess.Popen(
                        [sys.executable, str(script), program, *arguments],
                        env={
                            **environment(size, extra),
                            "RANK": str(rank),
                            "WORLD_SIZE": str(size),
                            "STORE": str(pathlib.Path(folder) / "store"),
                        },
                        stdin=subprocess.DEVNULL,
                        stdout=out,
                        stderr=err,
                    )
                )
        late = _wait(processes, deadline)
        outcomes = [
            Outcome(
                process.returncode,
                (log / "out").read_text(errors="replace"),
                (log / "err").read_text(errors="replace"),
            )
            for process, log in zip(processes, logs, strict=True)
        ]
    if late:
        raise LateError(f"ranks {late} of {program} did not end:\n{describe(outcomes)}")
    return outcomes


def _wait(processes: Sequence[subprocess.Popen[bytes]], deadline: float) -> list[int]:
    end = time.monotonic() + deadline
    late = []
    try:
        for rank, process in enumerate(processes):
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                late.append(rank)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return late


def describe(outcomes: Sequence[Outcome]) -> str:
    """What processes did, for the message of a failed test."""
    return "\n".join(
        f"rank {rank}: exit status {outcome.code}\n{outcome.out[-2000:]}{outcome.err[-6000:]}"
        for rank, outcome in enumerate(outcomes)
    )


def shared_memory() -> set[str]:
    """The names of what NCCL and the simulated device have in shared memory; other tests run beside."""
    names = (path.name for path in pathlib.Path("/dev/shm").iterdir())
    return {name for name in names if name.startswith(("nccl", "cudasim", "accel"))}
