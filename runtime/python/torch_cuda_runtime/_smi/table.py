"""What fits on a screen: the summary, the list of devices, and how they are connected."""

from __future__ import annotations

import ctypes
import time

from torch_cuda_runtime._smi import fields
from torch_cuda_runtime._smi.nvml import Device, Nvml

_COLUMNS = (41, 24, 22)  # characters between the bars
_INNER = sum(_COLUMNS) + 2

# nvmlGpuTopologyLevel_t
_CONNECTIONS = {10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
_LEGEND = {
    "X": "the device itself",
    "SYS": "by the memory of the host, whatever processors are between",
    "NODE": "by the host bridges of one NUMA node",
    "PHB": "by one host bridge of PCIe",
    "PXB": "by several PCIe bridges",
    "PIX": "by one PCIe bridge",
}


def _row(*cells: str) -> str:
    return (
        "|"
        + "|".join(f"{cell:<{width}.{width}}" for cell, width in zip(cells, _COLUMNS, strict=True))
        + "|"
    )


def _wide(text: str) -> str:
    return f"|{text:<{_INNER}.{_INNER}}|"


def _line(fill: str, edge: str, between: str | None = None) -> str:
    if between is None:
        return edge + fill * _INNER + edge
    return edge + between.join(fill * width for width in _COLUMNS) + edge


def _or_missing(value: object, unit: str = "") -> str:
    return "N/A" if value is None else f"{value}{unit}"


def _device(device: Device) -> list[str]:
    state = fields.enabled
    persistent = (
        "On" if state(device.number("nvmlDeviceGetPersistenceMode")) == "Enabled" else "Off"
    )
    displays = "On" if state(device.number("nvmlDeviceGetDisplayActive")) == "Enabled" else "Off"
    fan = _or_missing(device.number("nvmlDeviceGetFanSpeed"), "%")
    temperature = _or_missing(device.number("nvmlDeviceGetTemperature", 0), "C")
    power = "N/A /  N/A"
    memory = device.memory
    used, total = (f"{fields.mebibytes(part)}MiB" for part in (memory.used, memory.total))
    rates = device.utilization
    busy = _or_missing(rates and rates.gpu, "%")
    mode = _or_missing(fields.compute_mode(device))
    return [
        _row(
            f" {device.index:>3}  {device.name:<25.25}{persistent:>8}  ",
            f"   {device.bus_id:<16} {displays:>3} ",
            f" {'N/A':>20} ",
        ),
        _row(
            f" {fan:<3}   {temperature:<4} {_or_missing(fields.performance_state(device)):>5} {power:>22} ",
            f"{used:>11} / {total:>9} ",
            f" {busy:>7} {mode:>12} ",
        ),
        _row("", "", f" {'N/A':>20} "),
        _line("-", "+", "+"),
    ]


def _process(index: int, pid: int, name: str, memory: int) -> str:
    if len(name) > 40:
        name = "..." + name[-37:]
    return _wide(
        f" {index:>4}   N/A  N/A {pid:>9}      C   {name:<40} {fields.mebibytes(memory):>8}MiB "
    )


def summary(nvml: Nvml, devices: list[Device]) -> str:
    """The table that the program shows without arguments.

    Args:
        nvml: the library.
        devices: what is told of.
    """
    version = nvml.driver_version
    lines = [
        time.strftime("%a %b %e %H:%M:%S %Y"),
        _line("-", "+"),
        _wide(
            f" NVIDIA-SMI {version:<22} Driver Version: {version:<14} CUDA Version: {nvml.cuda_version:<9}"
        ),
        _line("-", "|", "+"),
        _row(
            " GPU  Name                 Persistence-M ",
            " Bus-Id          Disp.A ",
            " Volatile Uncorr. ECC ",
        ),
        _row(
            " Fan  Temp   Perf          Pwr:Usage/Cap ",
            "           Memory-Usage ",
            " GPU-Util  Compute M. ",
        ),
        _row("", "", f"{'MIG M. ':>22}"),
        _line("=", "|", "+"),
    ]
    for device in devices:
        lines += _device(device)
    lines += [
        "",
        _line("-", "+"),
        _wide(" Processes:"),
        _wide(
            "  GPU   GI   CI        PID   Type   Process name                              GPU Memory "
        ),
        _wide(
            "        ID   ID                                                               Usage      "
        ),
        _line("=", "|"),
    ]
    uses = [(device.index, process) for device in devices for process in device.processes]
    lines += [_process(index, use.pid, use.name, use.memory) for index, use in uses] or [
        _wide("  No running processes found")
    ]
    return "\n".join([*lines, _line("-", "+")])


def names(devices: list[Device]) -> str:
    """A line for each device: -L."""
    return "\n".join(
        f"GPU {device.index}: {device.name} (UUID: {device.uuid})" for device in devices
    )


def _ranges(numbers: list[int]) -> str:
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def _processors(device: Device) -> str:
    words = (ctypes.c_ulong * 16)()
    device.nvml.call("nvmlDeviceGetCpuAffinity", device.handle, len(words), words)
    bits = 8 * ctypes.sizeof(ctypes.c_ulong)
    return _ranges([i for i in range(bits * len(words)) if words[i // bits] >> i % bits & 1])


def topology(devices: list[Device]) -> str:
    """How devices are connected: topo -m."""
    rows = [["", *(f"GPU{device.index}" for device in devices), "CPU Affinity", "NUMA Affinity"]]
    for one in devices:
        levels = [" X " if one is other else _connection(one, other) for other in devices]
        rows.append([f"GPU{one.index}", *levels, _processors(one), "N/A"])
    legend = [f"  {word:<4} = {text}" for word, text in _LEGEND.items()]
    return "\n".join([*("\t".join(row) for row in rows), "", "Legend:", "", *legend])


def _connection(one: Device, other: Device) -> str:
    level = one.number("nvmlDeviceGetTopologyCommonAncestor", other.handle)
    return _CONNECTIONS.get(level or 0, "N/A")
