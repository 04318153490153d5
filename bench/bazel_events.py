"""Reads what Bazel writes about a build: its JSON profile and its build event file.

The profile tells which target each process was for and how long it ran; the events tell how much
CPU time all processes of one kind took. Actions that came from a cache ran no process and do not
count.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import gzip
import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

# Options under which a build writes what is read here.
PROFILE_OPTIONS = (
    "--noslim_profile",
    "--experimental_profile_include_target_label",
    "--experimental_profile_include_primary_output",
)

_ACTION = "action processing"
_PROCESS = "Local execution process wall time"


@dataclasses.dataclass(frozen=True)
class Process:
    """One process that Bazel ran.

    Attributes:
        target: label of the target it was for.
        mnemonic: kind of action, for example "CppCompile".
        output: its first output, relative to the execution root.
        seconds: wall time of the process.
    """

    target: str
    mnemonic: str
    output: str
    seconds: float


@dataclasses.dataclass(frozen=True)
class Kind:
    """All processes of one mnemonic in one build.

    Attributes:
        actions: how many actions ran.
        cpu_seconds: user and system time of their processes.
    """

    actions: int
    cpu_seconds: float


@dataclasses.dataclass(frozen=True)
class Build:
    """One build.

    Attributes:
        seconds: wall time of the command, without the start of a server.
        kinds: mnemonic to what ran.
    """

    seconds: float
    kinds: Mapping[str, Kind]


def read_profile(path: pathlib.Path) -> list[Process]:
    """Reads a JSON profile.

    Args:
        path: the file given to `--profile`; compressed if its name ends in ".gz". The build needs
            PROFILE_OPTIONS.

    Returns:
        The processes that ran, in no particular order.

    Raises:
        ValueError: the profile does not say which target an action was for.
    """
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    actions: dict[int, list[dict[str, Any]]] = collections.defaultdict(list)
    processes: list[dict[str, Any]] = []
    for event in json.loads(data)["traceEvents"]:
        if event.get("cat") == _ACTION:
            actions[event["tid"]].append(event)
        elif event.get("cat") == _PROCESS:
            processes.append(event)
    for events in actions.values():
        events.sort(key=_start)
    return [_process(event, actions[event["tid"]]) for event in processes]


def _start(event: Mapping[str, Any]) -> float:
    return float(event["ts"])


def _process(event: Mapping[str, Any], actions: list[dict[str, Any]]) -> Process:
    # On one thread, the action that started last before the process is the one that ran it.
    index = bisect.bisect_right(actions, _start(event), key=_start) - 1
    action = actions[index] if index >= 0 else {}
    arguments = action.get("args", {})
    if "target" not in arguments:
        raise ValueError(
            f"the profile does not say what {event['name']} was for; build with "
            f"{' '.join(PROFILE_OPTIONS)}."
        )
    return Process(
        target=arguments["target"],
        mnemonic=arguments.get("mnemonic", event["name"]),
        output=action.get("out", ""),
        seconds=event["dur"] / 1e6,
    )


def read_build(path: pathlib.Path) -> Build:
    """Reads a build event file.

    Args:
        path: the file given to `--build_event_json_file`.

    Returns:
        What the build did.

    Raises:
        ValueError: the build did not come to its end.
    """
    for line in path.read_text(encoding="utf-8").splitlines():
        metrics = json.loads(line).get("buildMetrics")
        if metrics is None:
            continue
        kinds = {
            data["mnemonic"]: Kind(
                actions=int(data["actionsExecuted"]),
                cpu_seconds=_seconds(data.get("userTime")) + _seconds(data.get("systemTime")),
            )
            for data in metrics["actionSummary"].get("actionData", [])
        }
        return Build(int(metrics["timingMetrics"]["wallTimeInMs"]) / 1e3, kinds)
    raise ValueError(f"{path} has no metrics: the build did not come to its end.")


def _seconds(text: str | None) -> float:
    """Reads a duration in JSON form (protobuf's), such as "1.5s"."""
    return float(text.removesuffix("s")) if text else 0.0


def cpu_seconds(processes: Iterable[Process], build: Build) -> dict[Process, float]:
    """Spreads the CPU time of each kind of action over its processes by their wall times.

    Args:
        processes: from the profile.
        build: from the events of the same build.

    Returns:
        Process to CPU seconds. Compilers run one thread, so the wall time of two of them differs
        from CPU time by the same factor, which is how busy the machine was.
    """
    listed = list(processes)
    wall: dict[str, float] = collections.defaultdict(float)
    for process in listed:
        wall[process.mnemonic] += process.seconds
    factors = {
        mnemonic: build.kinds[mnemonic].cpu_seconds / seconds
        if mnemonic in build.kinds and seconds
        else 1.0
        for mnemonic, seconds in wall.items()
    }
    return {process: process.seconds * factors[process.mnemonic] for process in listed}
