"""The devices that are found, each with what makes a program run on it."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import pathlib
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Target:
    """One device.

    Attributes:
      name: for people.
      settings: environment variables; None takes one out.
    """

    name: str
    settings: dict[str, str | None]


_NONE: dict[str, str | None] = {"TORCH_CUDA_DEVICES": None, "TORCH_CUDA_SIM": None}
CPU = Target("cpu", {**_NONE, "CUDA_VISIBLE_DEVICES": ""})
"""The reference: the program finds no CUDA."""
# The driver of a GPU of NVIDIA's, which is no part of any wheel.
_NVIDIAS = pathlib.Path("/proc/driver/nvidia/version")


def find(libraries: Sequence[str]) -> list[Target]:
    """Finds devices: the CPU, those of the installed packages, NVIDIA's, and libraries that are named.

    Args:
      libraries: entries of TORCH_CUDA_DEVICES.

    Returns:
      At least the CPU.
    """
    names = ["fake"] if importlib.util.find_spec("torch_cuda_runtime") else []
    names += sorted(
        point.name for point in importlib.metadata.entry_points(group="torch_cuda.devices")
    )
    targets = [CPU]
    if _NVIDIAS.exists():
        targets.append(Target("nvidia", _NONE))
    for entry in (*names, *libraries):
        name = pathlib.Path(entry.split(":")[0]).stem.removeprefix("libaccel_")
        targets.append(Target(name, {**_NONE, "TORCH_CUDA_DEVICES": entry}))
    return targets
