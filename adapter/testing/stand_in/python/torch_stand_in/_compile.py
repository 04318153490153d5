"""Registers the stand-in with torch.compile when a program first imports that.

Dynamo asks devices about themselves through an interface; inductor asks who generates code for them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch

from torch_stand_in import _device, _memory, _streams
from torch_stand_in._native import functions as native
from torch_stand_in.inductor import registration

_INTERFACES = "torch._dynamo.device_interface"
_INDUCTOR = "torch._inductor.codegen.common"


def register() -> None:
    """Registers the stand-in with both, or has it registered when they are imported."""
    for name, action in ((_INTERFACES, _register), (_INDUCTOR, registration.register)):
        if name in sys.modules:
            action(sys.modules[name])
        else:
            sys.meta_path.insert(0, _Finder(name, action))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds a module as the others do, and registers when it is executed."""

    def __init__(self, name: str, action: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._action)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, action: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._action = action

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._action(module)


def _register(interfaces: ModuleType) -> None:
    interface = _interface(interfaces.DeviceInterface)
    names = ["stand_in", *(f"stand_in:{i}" for i in range(_device.device_count()))]
    for name in names:
        # Its function for that imports, in later versions, what imports this module.
        interfaces.device_interfaces[name] = interface


def _interface(base: Any) -> Any:
    class StandInInterface(base):  # type: ignore[misc]
        """The stand-in as torch.compile sees it."""

        device = _device.device
        Event = _streams.Event
        Stream = _streams.Stream

        class Worker:
            """Compilation happens in this process."""

            set_device = staticmethod(_device.set_device)
            current_device = staticmethod(_device.current_device)
            get_device_properties = staticmethod(_device.get_device_properties)

        current_device = staticmethod(_device.current_device)
        set_device = staticmethod(_device.set_device)
        device_count = staticmethod(_device.device_count)
        is_available = staticmethod(_device.is_available)
        exchange_device = staticmethod(_device.exchange_device)
        maybe_exchange_device = staticmethod(_device.exchange_device)
        stream = staticmethod(_streams.stream)
        current_stream = staticmethod(_streams.current_stream)
        set_stream = staticmethod(_streams.set_stream)
        synchronize = staticmethod(_device.synchronize)
        get_device_properties = staticmethod(_device.get_device_properties)
        memory_allocated = staticmethod(_memory.memory_allocated)
        is_bf16_supported = staticmethod(_device.is_bf16_supported)

        @staticmethod
        def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
            native.set_stream(stream_id, device_index)

        @staticmethod
        def get_raw_stream(device_idx: int) -> int:
            return _streams.current_stream(device_idx).stand_in_stream

        @staticmethod
        def get_compute_capability(device: torch.device | str | int | None = None) -> int:
            major, minor = _device.get_device_capability(device)
            return 10 * major + minor

    return StandInInterface
