"""Runs a program as it is, and tells on a file descriptor what its device does: observe.py DESCRIPTOR PROGRAM ARGUMENTS.

The program is not changed and does not know: its output is read for lines "step N loss X", a dispatch mode
counts its operators, and torch's profiler records two steps in the middle.
"""

from __future__ import annotations

import collections
import io
import json
import os
import pathlib
import re
import runpy
import sys
import tempfile
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_STEP = re.compile(r"step (\d+) loss (\S+)")
_PROFILED = range(4, 6)
"""The steps of the timeline."""
_MOST_SPANS = 400
"""In a lane; more cannot be told apart on a page."""
_descriptor = int(sys.argv[1]) if __name__ == "__main__" else -1


def _tell(kind: str, **data: Any) -> None:
    os.write(_descriptor, (json.dumps({"kind": kind, **data}) + "\n").encode())


class Calls(TorchDispatchMode):
    """Counts operators, those of the backward pass too."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: collections.Counter[str] = collections.Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.counts[func.name()] += 1
        return func(*args, **(kwargs or {}))

    def servers(self) -> dict[str, str]:
        """Who serves each operator on the current device: "cpu" without CUDA."""
        if not torch.cuda.is_available():
            return dict.fromkeys(self.counts, "cpu")
        import torch_cuda

        index = torch.cuda.current_device()
        return {name: torch_cuda.served_by(name, index) for name in self.counts}


class Timeline:
    """What happened on the device's streams and the host's threads during some steps."""

    def __init__(self) -> None:
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profiler = torch.profiler.profile(activities=activities)

    def begin(self) -> None:
        """Begins to record."""
        self._profiler.__enter__()

    def end(self) -> dict[str, list[list[Any]]]:
        """Ends, and gives the lanes (events.py)."""
        self._profiler.__exit__(None, None, None)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "trace.json")
            self._profiler.export_chrome_trace(str(file))
            trace = json.loads(file.read_text(encoding="utf-8"))
        return lanes_of(trace["traceEvents"])


def lanes_of(events: list[dict[str, Any]]) -> dict[str, list[list[Any]]]:
    """The spans of a Chrome trace by what they ran on.

    Args:
      events: `traceEvents` of the trace.

    Returns:
      Lanes by name: "stream N" for what devices did, "host N" for threads.
    """
    spans = [
        event
        for event in events
        if event.get("ph") == "X" and event.get("cat") in (*_ON_DEVICE, "cpu_op")
    ]
    if not spans:
        return {}
    first = min(event["ts"] for event in spans)
    lanes: dict[str, list[list[Any]]] = {}
    for event in sorted(spans, key=lambda span: float(span["ts"])):
        kind = "stream" if event["cat"] in _ON_DEVICE else "host"
        lane = lanes.setdefault(f"{kind} {event['tid']}", [])
        if len(lane) < _MOST_SPANS:
            lane.append([event["ts"] - first, event.get("dur", 0), event["name"]])
    return dict(sorted(lanes.items()))


_ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


class Output(io.TextIOBase):
    """The program's standard output, which is passed on; each step's line brings figures with it."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls, self._timeline = calls, Timeline()
        self._rest = ""

    def write(self, text: str) -> int:
        """Passes text on, and looks for steps in it."""
        sys.__stderr__.write(text)  # type: ignore[union-attr]
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if found := _STEP.fullmatch(line):
                self._step(int(found[1]), float(found[2]))
        return len(text)

    def _step(self, step: int, loss: float) -> None:
        _tell("loss", step=step, loss=loss)
        if torch.cuda.is_available():
            _tell("memory", bytes=torch.cuda.memory_allocated())
        if step == _PROFILED.start - 1:
            self._timeline.begin()
        elif step == _PROFILED.stop - 1:
            _tell("timeline", lanes=self._timeline.end())
        _tell("operators", counts=dict(self._calls.counts), servers=self._calls.servers())


def main() -> None:
    """Runs the program."""
    available = torch.cuda.is_available()
    if not available and os.environ.get("TORCH_CUDA_DEVICES"):
        reason = "there is no such CUDA device"
        _tell("error", text=f"{os.environ['TORCH_CUDA_DEVICES']}: {reason}")
        sys.exit(f"{reason}; the error is above")
    _tell("begin", device=torch.cuda.get_device_name() if available else "the CPU")
    sys.argv = sys.argv[2:]
    calls = Calls()
    sys.stdout = Output(calls)
    try:
        with calls:
            runpy.run_path(sys.argv[0], run_name="__main__")
    except Exception as error:
        _tell("error", text=f"{type(error).__name__}: {error}")
        raise


if __name__ == "__main__":
    main()
