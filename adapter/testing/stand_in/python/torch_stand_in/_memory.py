"""Memory of devices: what the caching allocator has, and how much there is."""

from __future__ import annotations

import collections
from typing import Any

import torch

from torch_stand_in._device import DeviceLike, _get_device_index, init
from torch_stand_in._device import device as _on
from torch_stand_in._native import functions as native
from torch_stand_in._streams import current_stream

OutOfMemoryError = torch.OutOfMemoryError


def memory_stats(device: DeviceLike = None) -> dict[str, int]:
    """Figures of the allocator, by CUDA's names."""
    init()
    return collections.OrderedDict(sorted(native.memory_stats(_get_device_index(device)).items()))


def memory_stats_as_nested_dict(device: DeviceLike = None) -> dict[str, Any]:
    """The same, a dictionary for each part of a name."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *folders, last = name.split(".")
        at = nested
        for folder in folders:
            at = at.setdefault(folder, {})
        at[last] = value
    return nested


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes that tensors have."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: DeviceLike = None) -> int:
    """The most bytes that tensors have had."""
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: DeviceLike = None) -> int:
    """Bytes that the allocator has of the device."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: DeviceLike = None) -> int:
    """The most bytes that the allocator has had."""
    return memory_stats(device)["reserved_bytes.all.peak"]


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Forgets the highest figures."""
    native.reset_peak_stats(_get_device_index(device))


def reset_max_memory_allocated(device: DeviceLike = None) -> None:
    """Forgets the highest figures."""
    reset_peak_memory_stats(device)


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Forgets what was allocated and freed."""
    native.reset_accumulated_stats(_get_device_index(device))


def empty_cache() -> None:
    """Gives back to the devices, and to the host, what nobody uses."""
    init()
    native.empty_cache()
    native.empty_pinned_cache()


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Bytes that are free on a device, and all that it has."""
    init()
    available, total = native.memory_info(_get_device_index(device))
    return available, total


def set_per_process_memory_fraction(fraction: float, device: DeviceLike = None) -> None:
    """Sets which part of a device's memory this process may have."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    native.set_memory_fraction(fraction, _get_device_index(device))


def caching_allocator_alloc(size: int, device: DeviceLike = None, stream: Any = None) -> int:
    """Allocates memory and gives its address.

    Args:
      size: bytes.
      device: whose memory.
      stream: that uses it, a stream or its handle; None for the current one.
    """
    index = _get_device_index(device)
    stream = current_stream(index) if stream is None else stream
    handle = stream if isinstance(stream, int) else stream.stand_in_stream
    with _on(index):
        return int(native.raw_alloc(size, handle))


def caching_allocator_delete(mem_ptr: int) -> None:
    """Frees what caching_allocator_alloc gave."""
    native.raw_delete(mem_ptr)


def memory_summary(device: DeviceLike = None, abbreviated: bool = False) -> str:
    """A table of the allocator's figures.

    Args:
      device: whose.
      abbreviated: whether to leave out how often memory was allocated.
    """
    index = _get_device_index(device)
    stats = memory_stats(index)
    rows = {"Allocated memory": "allocated_bytes", "Reserved memory": "reserved_bytes"}
    if not abbreviated:
        rows |= {"Allocations": "allocation", "Segments": "segment"}
    figures = ("current", "peak", "allocated", "freed")
    lines = [
        f"Stand-in memory summary, device {index}, out of memory {stats['num_ooms']} times",
        " | ".join(["Metric".ljust(16), *(figure.rjust(14) for figure in figures)]),
    ]
    lines += [
        " | ".join(
            [name.ljust(16), *(str(stats[f"{key}.all.{figure}"]).rjust(14) for figure in figures)]
        )
        for name, key in rows.items()
    ]
    return "\n".join(lines)
