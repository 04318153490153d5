"""Which devices the environment asks for. An interpreter starts with it, so it imports `os` alone."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs more than all of this
    from collections.abc import Mapping

SIM_VARIABLE = "TORCH_CUDA_SIM"
DEVICES_VARIABLE = "TORCH_CUDA_DEVICES"
SIM = "sim"
"""The device that TORCH_CUDA_SIM is short for."""

_FALSE = frozenset({"", "0", "false", "no", "off"})


def simulated(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether `TORCH_CUDA_SIM` is set to anything but the empty value, "0", "false", "no" and "off"."""
    return environ.get(SIM_VARIABLE, "").strip().lower() not in _FALSE


def requested_by(environ: Mapping[str, str] = os.environ) -> str | None:
    """The environment variable that asks for devices.

    Args:
        environ: environment variables.

    Returns:
        `TORCH_CUDA_SIM` where it is true; where it is not set at all, `TORCH_CUDA_DEVICES` for any value
        but the empty one. None when nothing asks.
    """
    if simulated(environ):
        return SIM_VARIABLE
    if not environ.get(SIM_VARIABLE, "").strip() and environ.get(DEVICES_VARIABLE, "").strip():
        return DEVICES_VARIABLE
    return None


def libraries(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The names and paths of devices that the environment asks for, in order, without their options."""
    if requested_by(environ) is None:
        return []
    chosen = environ.get(DEVICES_VARIABLE, "").strip() or SIM
    entries = [entry.partition(":")[0] for entry in chosen.split(",")]
    return [entry for entry in entries if entry]
