"""What compilers use while Bazel runs them: CPU time and memory, by the unit that is compiled.

Bazel tells how long an action took, but not how much memory. The compilers are ordinary processes, so that
Linux tells both (proc(5)): they are looked at some times a second, and what they used at the last look counts.
"""

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_SECONDS_BETWEEN_LOOKS = 0.2
_COMPILED = re.compile(r"external/[^/]*pytorch/(?P<unit>\S+\.(?:cu|cpp))$")


@dataclass(frozen=True)
class Cost:
    """What compiling one unit took.

    Attributes:
      cpu: seconds of user and system time.
      memory: bytes of the largest of its processes, at its peak.
    """

    cpu: float
    memory: int


@dataclass(frozen=True)
class _Process:
    parent: int
    started: int
    cpu: float
    memory: int
    unit: str
    works_in: str


def _process(folder: Path) -> _Process | None:
    """Reads one folder of /proc; None where the process has ended or is another user's."""

    def text(name: str) -> str:
        # A process may be named by any bytes.
        return (folder / name).read_bytes().decode(errors="replace")

    try:
        after_name = text("stat").rpartition(")")[2].split()
        status = text("status")
        arguments = text("cmdline").split("\0")
        works_in = str((folder / "cwd").readlink())
    except OSError:
        return None
    # proc(5), fields 4, 14, 15 and 22; the state is the first one after the name.
    ticks = int(after_name[11]) + int(after_name[12])
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    units = [found["unit"] for argument in arguments if (found := _COMPILED.search(argument))]
    return _Process(
        parent=int(after_name[1]),
        started=int(after_name[19]),
        cpu=ticks / os.sysconf("SC_CLK_TCK"),
        memory=int(peak[1]) * 1024 if peak else 0,
        unit=units[-1] if units and "-c" in arguments else "",
        works_in=works_in,
    )


def _unit(pid: int, processes: Mapping[int, _Process]) -> str:
    """The unit that a process is compiling: its own, or that of the process which started it."""
    while process := processes.get(pid):
        if process.unit:
            return process.unit
        pid = process.parent
    return ""


class Watch:
    """Looks at compilers for as long as it is entered.

    Attributes:
      costs: by unit, its path in PyTorch's source tree.
    """

    def __init__(self, output_base: str = "", proc: Path = Path("/proc")) -> None:
        """Starts with nothing seen.

        Args:
          output_base: Bazel's folder whose compilers are meant, and not those of another clone; empty: all of this
            machine. In a build root they work below another path, which ends alike.
          proc: where proc(5) is.
        """
        self._output_base = output_base
        self._proc = proc
        self._seen: dict[tuple[int, int], tuple[str, float, int]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_SECONDS_BETWEEN_LOOKS):
            self.look()

    def look(self) -> None:
        """Takes in what the compilers have used until now."""
        folders = {int(f.name): f for f in self._proc.iterdir() if f.name.isdigit()}
        processes = {pid: p for pid, folder in folders.items() if (p := _process(folder))}
        for pid, process in processes.items():
            if self._output_base in process.works_in and (unit := _unit(pid, processes)):
                key = (pid, process.started)
                # A process that has ended, and is not yet waited for, has no memory any more.
                peak = max(process.memory, self._seen.get(key, ("", 0.0, 0))[2])
                self._seen[key] = (unit, process.cpu, peak)

    @property
    def costs(self) -> dict[str, Cost]:
        """What has been seen so far."""
        result: dict[str, Cost] = {}
        for unit, cpu, memory in list(self._seen.values()):
            before = result.get(unit, Cost(0.0, 0))
            result[unit] = Cost(before.cpu + cpu, max(before.memory, memory))
        return result
