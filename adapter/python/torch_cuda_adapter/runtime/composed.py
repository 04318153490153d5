"""Functions of `torch.cuda` that a platform may lack, made of those that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime import runtime_library


def functions(platform: Platform, namespace: ModuleType) -> Mapping[str, Callable[..., Any]]:
    """By their names below `torch.cuda`.

    Args:
        platform: the platform.
        namespace: its counterpart of `torch.cuda`.
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

    library: list[Any] = []

    def cudart() -> Any:
        """The platform's runtime under the names of CUDA's."""
        if not library:
            library.append(runtime_library.CudaRuntime(platform))
        return library[0]

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
        "cudart": cudart,
        "device_count": lambda: namespace.device_count(),
        "get_arch_list": no_list,
        "graphs.is_current_stream_capturing": lambda: False,
        "init": nothing,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_current_stream_capturing": lambda: False,
        "is_initialized": lambda: True,
    }
