"""The fields of --query-gpu and --query-compute-apps: their names, units and values.

Names and units are those of NVIDIA's program, so that scripts read them; several names for one field
stand for the one in the header.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from typing import Generic, TypeVar

from torch_cuda_runtime._smi.nvml import Device, Process

MISSING = "[N/A]"
"""For what a device does not have."""

_GRAPHICS, _SM, _MEMORY, _VIDEO = range(4)  # nvmlClockType_t
_CLOCKS = {"graphics": _GRAPHICS, "sm": _SM, "memory": _MEMORY, "video": _VIDEO}

Source = TypeVar("Source")


@dataclasses.dataclass(frozen=True)
class Field(Generic[Source]):
    """A field: how its value is read, None where there is none, and its unit."""

    read: Callable[[Source], object]
    unit: str = ""

    def text(self, source: Source, units: bool) -> str:
        """The value as a column has it.

        Args:
            source: what is asked.
            units: whether the unit is behind it.
        """
        value = self.read(source)
        if value is None:
            return MISSING
        return f"{value} {self.unit}" if self.unit and units else str(value)

    def header(self, name: str) -> str:
        """The column's head."""
        return f"{name} [{self.unit}]" if self.unit else name


def mebibytes(count: int) -> int:
    """Bytes as the program tells them."""
    return count >> 20


def enabled(state: int | None) -> str | None:
    """A state of NVML's in words."""
    return None if state is None else "Enabled" if state else "Disabled"


def compute_mode(device: Device) -> str | None:
    """nvmlComputeMode_t in words."""
    mode = device.number("nvmlDeviceGetComputeMode")
    words = ("Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process")
    return None if mode is None else words[mode]


def performance_state(device: Device) -> str | None:
    """Such as "P0"."""
    state = device.number("nvmlDeviceGetPerformanceState")
    return None if state is None else f"P{state}"


def clock(device: Device, kind: int, maximal: bool = False) -> int | None:
    """MHz; None where the device has no such clock.

    Args:
        device: whose clock.
        kind: an `nvmlClockType_t`.
        maximal: whether the highest rate is asked for.
    """
    return device.number("nvmlDeviceGetMaxClockInfo" if maximal else "nvmlDeviceGetClockInfo", kind)


def now() -> str:
    """The time as columns have it."""
    return datetime.datetime.now().strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]


def _missing(_: object) -> None:
    return None


def _asked(function: str, *arguments: int) -> Callable[[Device], int | None]:
    return lambda device: device.number(function, *arguments)


def _state(function: str) -> Callable[[Device], str | None]:
    return lambda device: enabled(device.number(function))


def _clock(kind: int, maximal: bool) -> Callable[[Device], int | None]:
    return lambda device: clock(device, kind, maximal)


GPU: dict[str, Field[Device]] = {
    "timestamp": Field(lambda _: now()),
    "driver_version": Field(lambda device: device.nvml.driver_version),
    "count": Field(lambda device: len(device.nvml.devices())),
    "name": Field(lambda device: device.name),
    "serial": Field(lambda device: device.text("nvmlDeviceGetSerial")),
    "uuid": Field(lambda device: device.uuid),
    "pci.bus_id": Field(lambda device: device.bus_id),
    "pci.domain": Field(lambda device: f"0x{device.pci.domain:04X}"),
    "pci.bus": Field(lambda device: f"0x{device.pci.bus:02X}"),
    "pci.device": Field(lambda device: f"0x{device.pci.device:02X}"),
    "pci.device_id": Field(lambda device: f"0x{device.pci.device_id:08X}"),
    "pci.sub_device_id": Field(lambda device: f"0x{device.pci.subsystem_id:08X}"),
    "pcie.link.gen.current": Field(_asked("nvmlDeviceGetCurrPcieLinkGeneration")),
    "pcie.link.gen.gpucurrent": Field(_asked("nvmlDeviceGetCurrPcieLinkGeneration")),
    "pcie.link.gen.max": Field(_asked("nvmlDeviceGetMaxPcieLinkGeneration")),
    "pcie.link.gen.gpumax": Field(_asked("nvmlDeviceGetGpuMaxPcieLinkGeneration")),
    "pcie.link.gen.hostmax": Field(_missing),
    "pcie.link.width.current": Field(_asked("nvmlDeviceGetCurrPcieLinkWidth")),
    "pcie.link.width.max": Field(_asked("nvmlDeviceGetMaxPcieLinkWidth")),
    "index": Field(lambda device: device.index),
    "display_mode": Field(_state("nvmlDeviceGetDisplayMode")),
    "display_active": Field(_state("nvmlDeviceGetDisplayActive")),
    "persistence_mode": Field(_state("nvmlDeviceGetPersistenceMode")),
    "addressing_mode": Field(_missing),
    "accounting.mode": Field(_state("nvmlDeviceGetAccountingMode")),
    "accounting.buffer_size": Field(_missing),
    "driver_model.current": Field(_missing),
    "driver_model.pending": Field(_missing),
    "vbios_version": Field(lambda device: device.text("nvmlDeviceGetVbiosVersion")),
    "fan.speed": Field(_asked("nvmlDeviceGetFanSpeed"), "%"),
    "pstate": Field(performance_state),
    "clocks_event_reasons.active": Field(
        lambda device: f"0x{device.number('nvmlDeviceGetCurrentClocksEventReasons') or 0:016X}"
    ),
    "memory.total": Field(lambda device: mebibytes(device.memory.total), "MiB"),
    "memory.reserved": Field(lambda _: 0, "MiB"),
    "memory.used": Field(lambda device: mebibytes(device.memory.used), "MiB"),
    "memory.free": Field(lambda device: mebibytes(device.memory.free), "MiB"),
    "compute_mode": Field(compute_mode),
    "compute_cap": Field(lambda device: "{}.{}".format(*device.capability)),
    "utilization.gpu": Field(lambda device: device.utilization and device.utilization.gpu, "%"),
    "utilization.memory": Field(
        lambda device: device.utilization and device.utilization.memory, "%"
    ),
    **{
        f"utilization.{part}": Field(_missing, "%")
        for part in ("encoder", "decoder", "jpeg", "ofa")
    },
    **{
        f"encoder.stats.{part}": Field(_missing)
        for part in ("sessionCount", "averageFps", "averageLatency")
    },
    "ecc.mode.current": Field(_missing),
    "ecc.mode.pending": Field(_missing),
    **{
        f"ecc.errors.{kind}.{span}.{place}": Field(_missing)
        for kind in ("corrected", "uncorrected")
        for span in ("volatile", "aggregate")
        for place in ("device_memory", "dram", "sram", "total")
    },
    "temperature.gpu": Field(_asked("nvmlDeviceGetTemperature", 0)),
    "temperature.memory": Field(_missing),
    "power.management": Field(_state("nvmlDeviceGetPowerManagementMode")),
    **{
        f"power.{part}": Field(_missing, "W")
        for part in (
            *("draw", "draw.average", "draw.instant", "limit"),
            *("default_limit", "min_limit", "max_limit"),
        )
    },
    "enforced.power.limit": Field(_missing, "W"),
    **{
        f"clocks.current.{part}": Field(_clock(kind, False), "MHz")
        for part, kind in _CLOCKS.items()
    },
    **{
        f"clocks.{which}.{part}": Field(_missing, "MHz")
        for which in ("applications", "default_applications")
        for part in ("graphics", "memory")
    },
    **{
        f"clocks.max.{part}": Field(_clock(_CLOCKS[part], True), "MHz")
        for part in ("graphics", "sm", "memory")
    },
    "mig.mode.current": Field(_missing),
    "mig.mode.pending": Field(_missing),
    "gsp.mode.current": Field(_missing),
    "gsp.mode.default": Field(_missing),
    "fabric.state": Field(_missing),
    "fabric.status": Field(_missing),
}

_SHORT_CLOCKS = {"gr": "graphics", "sm": "sm", "mem": "memory", "video": "video"}

GPU_ALIASES = {
    "gpu_name": "name",
    "gpu_serial": "serial",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
    "clocks_throttle_reasons.active": "clocks_event_reasons.active",
    **{f"clocks.{short}": f"clocks.current.{part}" for short, part in _SHORT_CLOCKS.items()},
    **{f"clocks.{part}": f"clocks.current.{part}" for part in _CLOCKS},
    "clocks.applications.gr": "clocks.applications.graphics",
    "clocks.applications.mem": "clocks.applications.memory",
    "clocks.default_applications.gr": "clocks.default_applications.graphics",
    "clocks.default_applications.mem": "clocks.default_applications.memory",
    "clocks.max.gr": "clocks.max.graphics",
    "clocks.max.mem": "clocks.max.memory",
}

Use = tuple[Device, Process]

APPS: dict[str, Field[Use]] = {
    "timestamp": Field(lambda _: now()),
    "gpu_name": Field(lambda use: use[0].name),
    "gpu_bus_id": Field(lambda use: use[0].bus_id),
    "gpu_serial": Field(lambda use: use[0].text("nvmlDeviceGetSerial")),
    "gpu_uuid": Field(lambda use: use[0].uuid),
    "pid": Field(lambda use: use[1].pid),
    "process_name": Field(lambda use: use[1].name),
    "used_gpu_memory": Field(lambda use: mebibytes(use[1].memory), "MiB"),
}

APPS_ALIASES = {"name": "process_name", "used_memory": "used_gpu_memory"}
