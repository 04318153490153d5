"""Registers the stand-in with inductor, which imports the rest when it compiles for it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

_NAME = "stand_in"


def register(common: ModuleType) -> None:
    """Tells inductor who generates kernels, and the code that calls them, for the stand-in.

    Args:
      common: `torch._inductor.codegen.common`.
    """
    # inductor registers its own when it finds none, and so would forget the CPU's.
    common.get_device_op_overrides("cpu")
    common.register_device_op_overrides(_NAME, _operations(common.DeviceOpOverrides))
    common.register_backend_for_device(_NAME, _scheduling, _Wrapper, _CppWrapper)


def _scheduling(scheduler: Any) -> Any:
    module = importlib.import_module("torch_stand_in.inductor.scheduling")
    return module.StandInScheduling(scheduler)


class _Wrapper:
    @staticmethod
    def create(is_subgraph: bool, subgraph_name: str | None, parent_wrapper: Any) -> Any:
        module = importlib.import_module("torch_stand_in.inductor.wrapper")
        return module.StandInWrapper.create(is_subgraph, subgraph_name, parent_wrapper)


class _CppWrapper:
    @staticmethod
    def create(*_: object) -> Any:
        raise NotImplementedError(
            "found torch._inductor.config.cpp_wrapper (or AOTInductor) for the stand-in; needed Python's wrapper, "
            "which is the one it has: set cpp_wrapper to False"
        )


def _operations(base: Any) -> Any:
    class StandInOperations(base):  # type: ignore[misc]
        """Lines of generated Python code."""

        def import_get_raw_stream_as(self, name: str) -> str:
            """The import of a function that gives a stream's handle."""
            return f"from torch_stand_in.inductor.kernels import raw_stream as {name}"

        def set_device(self, device_idx: int) -> str:
            """Makes a device the current one."""
            return f"torch.stand_in.set_device({device_idx})"

        def synchronize(self) -> str:
            """Waits for the device."""
            return "torch.stand_in.synchronize()"

        def device_guard(self, device_idx: int) -> str:
            """A context of a device."""
            return f"torch.stand_in.device({device_idx})"

    return StandInOperations()
