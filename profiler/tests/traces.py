"""Chrome traces of torch.profiler, as tests ask about them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

BOTH = (ProfilerActivity.CPU, ProfilerActivity.CUDA)


@dataclasses.dataclass(frozen=True)
class Slice:
    """An event of a trace with a beginning and an end.

    Attributes:
        category: such as "kernel".
        name: of the event.
        row: process and thread in the trace: for work of a device, device and stream.
        start: in microseconds.
        end: in microseconds.
        details: what the trace says besides.
    """

    category: str
    name: str
    row: tuple[Any, Any]
    start: float
    end: float
    details: dict[str, Any]

    @property
    def duration(self) -> float:
        """In microseconds."""
        return self.end - self.start


class Trace:
    """A Chrome trace."""

    def __init__(self, profiler: profile) -> None:
        """Exports a profile and reads it.

        Args:
            profiler: one that has ended.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            profiler.export_chrome_trace(str(path))
            self.json: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self.slices = [
            Slice(
                event["cat"],
                event["name"],
                (event["pid"], event["tid"]),
                event["ts"],
                event["ts"] + event["dur"],
                event.get("args", {}),
            )
            for event in self.json["traceEvents"]
            if event["ph"] == "X" and "cat" in event
        ]

    def of(self, *categories: str) -> list[Slice]:
        """The slices of some categories, by their beginning."""
        return sorted(
            (event for event in self.slices if event.category in categories),
            key=lambda event: event.start,
        )

    @property
    def kernels(self) -> list[Slice]:
        """All kernels, by their beginning."""
        return self.of("kernel")

    @property
    def work(self) -> list[Slice]:
        """All that devices did, by its beginning."""
        return self.of("kernel", "gpu_memcpy", "gpu_memset")

    def operator_of(self, work: Slice) -> Slice:
        """The CPU's operator that work belongs to.

        Raises:
            LookupError: there is none, or more than one.
        """
        found = [
            operator
            for operator in self.of("cpu_op")
            if operator.details["External id"] == work.details.get("External id")
        ]
        if len(found) != 1:
            raise LookupError(f"{len(found)} operators for {work}")
        return found[0]

    def call_of(self, work: Slice) -> Slice:
        """The call of the runtime or driver that began work.

        Raises:
            LookupError: there is none, or more than one.
        """
        found = [
            call
            for call in self.of("cuda_runtime", "cuda_driver")
            if call.details["correlation"] == work.details["correlation"]
        ]
        if len(found) != 1:
            raise LookupError(f"{len(found)} calls for {work}")
        return found[0]

    def arrows(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The arrows from calls to the work that they began: both ends of each.

        Newer versions of Kineto also write ends at calls that began no work, such as a wait.
        """
        places = {each.row for each in self.work}
        ends: dict[str, dict[int, list[dict[str, Any]]]] = {"s": {}, "f": {}}
        for event in self.json["traceEvents"]:
            if event.get("cat") != "ac2g":
                continue
            if event["ph"] == "s" or (event["pid"], event["tid"]) in places:
                ends[event["ph"]].setdefault(event["id"], []).append(event)
        if any(len(ends["s"].get(i, [])) != 1 for i in ends["f"]):
            raise LookupError(f"arrows to work with no beginning, or with two: {ends}")
        return [(ends["s"][i][0], end) for i, found in ends["f"].items() for end in found]


@contextlib.contextmanager
def traced(**options: Any) -> Iterator[list[Trace]]:
    """Profiles a block on CPU and CUDA; afterwards the list has its trace.

    Args:
        **options: of torch.profiler.profile.
    """
    traces: list[Trace] = []
    torch.cuda.synchronize()
    with profile(**{"activities": BOTH, **options}) as profiler:
        yield traces
    traces.append(Trace(profiler))
