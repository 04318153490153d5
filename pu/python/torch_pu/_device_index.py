"""torch.cuda's functions take devices of pu: they all ask one function for a device's number."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch


def accept_pu() -> None:
    """Has `torch.cuda` take "pu", "pu:1" and torch.device("pu", 1) for the device of the same number."""
    utils = importlib.import_module("torch.cuda._utils")
    original: Callable[..., int] = utils._get_device_index

    @functools.wraps(original)
    def index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
        if isinstance(device, str):
            device = torch.device(device)
        if isinstance(device, torch.device) and device.type == "pu":
            device = (
                torch.device("cuda") if device.index is None else torch.device("cuda", device.index)
            )
        return original(device, optional, allow_cpu)

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "torch" and vars(module).get("_get_device_index") is original:
            vars(module)["_get_device_index"] = index
