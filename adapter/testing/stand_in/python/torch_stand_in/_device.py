"""Devices: which ones there are, and the current one."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import torch

from torch_stand_in._native import DeviceProperties
from torch_stand_in._native import functions as native

DeviceLike: TypeAlias = torch.device | str | int | None

_forked = False
_used = False


class StandInError(RuntimeError):
    """The stand-in cannot be used."""


def _get_device_index(device: Any = None, optional: bool = True) -> int:
    """The number of a device.

    Args:
      device: a torch.device, its name or number; None for the current one.
      optional: whether None will do.

    Raises:
      ValueError: it is none of the stand-in's.
    """
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "stand_in":
            raise ValueError(f"Expected a stand_in device, but got: {device}")
        device = device.index
    if device is None:
        if not optional:
            raise ValueError("Expected a stand_in device with an index, but got none")
        return current_device()
    return int(device)


def _remember_fork() -> None:
    global _forked, _used
    _forked, _used = True, False


os.register_at_fork(after_in_child=_remember_fork)


def is_in_bad_fork() -> bool:
    """Whether this process was forked from one that had used the stand-in."""
    if not _forked:
        return False
    try:
        native.init()
    except RuntimeError:
        return True
    return False


def init() -> None:
    """Initializes the stand-in, which its first use does by itself.

    Raises:
      StandInError: the runtime cannot be used, for the reason that is told.
    """
    global _used
    if is_in_bad_fork():
        raise StandInError(
            "Cannot re-initialize the stand-in in forked subprocess. To use it with multiprocessing, you must use "
            "the 'spawn' start method"
        )
    try:
        native.init()
    except RuntimeError as error:
        raise StandInError(str(error)) from None
    _used = True


def is_initialized() -> bool:
    """Whether this process has used it."""
    return _used


def device_count() -> int:
    """How many devices there are; 0 where the stand-in cannot be used."""
    global _used
    if is_in_bad_fork():
        return 0
    count = int(native.device_count())
    _used = _used or count > 0
    return count


def is_available() -> bool:
    """Whether there is a device."""
    return device_count() > 0


def current_device() -> int:
    """The number of the current device."""
    init()
    return int(native.current_device())


def set_device(device: DeviceLike) -> None:
    """Makes a device the current one; a negative number changes nothing."""
    init()
    index = _get_device_index(device)
    if index >= 0:
        native.set_device(index)


def exchange_device(device: int) -> int:
    """Makes a device the current one and tells which one was; a negative number changes nothing."""
    return -1 if device < 0 else int(native.exchange_device(device))


class device:
    """The current device is another one in its block.

    Args:
      device: which; None and negative numbers for the current one.
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _get_device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = exchange_device(self.idx)

    def __exit__(self, *_: object) -> None:
        exchange_device(self.prev_idx)


class device_of(device):
    """The current device is that of a tensor or storage in its block, if it is on the stand-in.

    Args:
      obj: the tensor or storage.
    """

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage) -> None:
        super().__init__(obj.get_device() if obj.device.type == "stand_in" else -1)


def get_device_properties(device: DeviceLike = None) -> DeviceProperties:
    """The figures of a device."""
    init()
    return DeviceProperties(*native.device_properties(_get_device_index(device)))


def get_device_name(device: DeviceLike = None) -> str:
    """The name of a device."""
    return str(get_device_properties(device).name)


def get_device_capability(device: DeviceLike = None) -> tuple[int, int]:
    """Major and minor number of a device's generation."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def can_device_access_peer(device: DeviceLike, peer_device: DeviceLike) -> bool:
    """Whether kernels of a device can use another's memory."""
    init()
    return bool(
        native.can_device_access_peer(_get_device_index(device), _get_device_index(peer_device))
    )


def synchronize(device: DeviceLike = None) -> None:
    """Waits for all work of a device."""
    init()
    native.synchronize(_get_device_index(device))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 can be computed in: the host can."""
    return True
