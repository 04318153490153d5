"""Functions of `torch.cuda` that a platform may lack, made of those that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def functions(namespace: ModuleType) -> Mapping[str, Callable[..., Any]]:
    """By their names below `torch.cuda`.

    Args:
        namespace: the platform's counterpart of `torch.cuda`.
    """

    def exchange_device(index: int) -> int:
        """Makes a device the current one, and returns the one before; negative: none."""
        before: int = namespace.current_device()
        if 0 <= index != before:
            namespace.set_device(index)
        return before

    def lazy_call(function: Callable[[], object], **options: Any) -> None:
        """Calls at once: the backend initialises itself."""
        function()

    def nothing(*args: Any, **options: Any) -> None:
        """The backend does it by itself."""

    def no_list() -> list[str]:
        """Compute capabilities that binaries are there for: these are CUDA's."""
        return []

    return {
        "_exchange_device": exchange_device,
        "_maybe_exchange_device": exchange_device,
        "_is_compiled": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "_lazy_call": lazy_call,
        "_lazy_init": nothing,
        "device_count": lambda: namespace.device_count(),
        "get_arch_list": no_list,
        "graphs.is_current_stream_capturing": lambda: False,
        "init": nothing,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_current_stream_capturing": lambda: False,
        "is_initialized": lambda: True,
    }
