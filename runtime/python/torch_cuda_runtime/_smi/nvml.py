"""NVML by ctypes: as much of it as the program tells. Source: NVML API reference."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import pathlib
from typing import Any

_NOT_SUPPORTED = 3
_INSUFFICIENT_SIZE = 7
_TEXT_BYTES = 96


class NvmlError(Exception):
    """A function of NVML that failed; its text is NVML's.

    Attributes:
        status: an `nvmlReturn_t`.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Memory(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_ulonglong) for name in ("total", "free", "used"))


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Pci(ctypes.Structure):
    _fields_ = (
        ("legacy_id", ctypes.c_char * 16),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("device_id", ctypes.c_uint),
        ("subsystem_id", ctypes.c_uint),
        ("bus_id", ctypes.c_char * 32),
    )


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


@dataclasses.dataclass(frozen=True)
class Process:
    """A process that uses a device."""

    pid: int
    name: str
    memory: int
    """Bytes."""


class Nvml:
    """The library, in use as long as the process runs.

    Args:
        path: of the library.

    Raises:
        OSError: it cannot be loaded.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._library = ctypes.CDLL(os.fspath(path))
        self._library.nvmlErrorString.restype = ctypes.c_char_p
        self.call("nvmlInit_v2")

    def status(self, function: str, *arguments: Any) -> int:
        """What a function returns."""
        return int(getattr(self._library, function)(*arguments))

    def call(self, function: str, *arguments: Any) -> bool:
        """Calls a function.

        Returns:
            False where it is not supported.

        Raises:
            NvmlError: it failed in another way.
        """
        status = self.status(function, *arguments)
        if status not in (0, _NOT_SUPPORTED):
            raise NvmlError(status, self._library.nvmlErrorString(status).decode())
        return status == 0

    def number(self, function: str, *arguments: Any) -> int | None:
        """The number that a function writes; None where it is not supported."""
        place = ctypes.c_uint()
        return place.value if self.call(function, *arguments, ctypes.byref(place)) else None

    def text(self, function: str, *arguments: Any) -> str | None:
        """The text that a function writes; None where it is not supported."""
        place = ctypes.create_string_buffer(_TEXT_BYTES)
        return place.value.decode() if self.call(function, *arguments, place, _TEXT_BYTES) else None

    def devices(self) -> list[Device]:
        """All devices of the machine, as they are now."""
        return [Device(self, index) for index in range(self.number("nvmlDeviceGetCount_v2") or 0)]

    @functools.cached_property
    def driver_version(self) -> str:
        """Such as "615.71"."""
        return self.text("nvmlSystemGetDriverVersion") or ""

    @functools.cached_property
    def version(self) -> str:
        """Of NVML itself, such as "13.615.71"."""
        return self.text("nvmlSystemGetNVMLVersion") or ""

    @functools.cached_property
    def cuda_version(self) -> str:
        """Such as "13.5"."""
        number = self.number("nvmlSystemGetCudaDriverVersion_v2") or 0
        return f"{number // 1000}.{number % 1000 // 10}"


class Device:
    """A device as it is at one moment: each figure is asked for once, when it is needed."""

    def __init__(self, nvml: Nvml, index: int) -> None:
        self.nvml = nvml
        self.index = index
        self.handle = ctypes.c_void_p()
        nvml.call("nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(self.handle))

    def number(self, function: str, *arguments: Any) -> int | None:
        """The number that a function writes for this device; None where it is not supported."""
        return self.nvml.number(function, self.handle, *arguments)

    def text(self, function: str) -> str | None:
        """The text that a function writes for this device; None where it is not supported."""
        return self.nvml.text(function, self.handle)

    @functools.cached_property
    def name(self) -> str:
        """Such as "cudasim sm_80"."""
        return self.text("nvmlDeviceGetName") or ""

    @functools.cached_property
    def uuid(self) -> str:
        """With "GPU-" in front."""
        return self.text("nvmlDeviceGetUUID") or ""

    @functools.cached_property
    def pci(self) -> _Pci:
        """Where it is."""
        pci = _Pci()
        self.nvml.call("nvmlDeviceGetPciInfo_v3", self.handle, ctypes.byref(pci))
        return pci

    @functools.cached_property
    def bus_id(self) -> str:
        """Such as "00000000:01:00.0"."""
        return bytes(self.pci.bus_id).decode()

    @functools.cached_property
    def memory(self) -> _Memory:
        """Bytes."""
        memory = _Memory()
        self.nvml.call("nvmlDeviceGetMemoryInfo", self.handle, ctypes.byref(memory))
        return memory

    @functools.cached_property
    def utilization(self) -> _Utilization | None:
        """Percent; None where it is not supported."""
        rates = _Utilization()
        known = self.nvml.call("nvmlDeviceGetUtilizationRates", self.handle, ctypes.byref(rates))
        return rates if known else None

    @functools.cached_property
    def capability(self) -> tuple[int, int]:
        """The compute capability."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.nvml.call(
            "nvmlDeviceGetCudaComputeCapability",
            self.handle,
            ctypes.byref(major),
            ctypes.byref(minor),
        )
        return major.value, minor.value

    @functools.cached_property
    def processes(self) -> list[Process]:
        """Those that compute on it, of this user."""
        room = 32
        while True:
            count = ctypes.c_uint(room)
            infos = (_Process * room)()
            function = "nvmlDeviceGetComputeRunningProcesses_v3"
            if (
                self.nvml.status(function, self.handle, ctypes.byref(count), infos)
                == _INSUFFICIENT_SIZE
            ):
                room = 2 * count.value
                continue
            return [
                Process(info.pid, self._name_of(info.pid), info.memory)
                for info in infos[: count.value]
            ]

    def _name_of(self, pid: int) -> str:
        place = ctypes.create_string_buffer(4096)
        status = self.nvml.status("nvmlSystemGetProcessName", pid, place, len(place))
        return place.value.decode(errors="replace") if status == 0 else "[Not Found]"
