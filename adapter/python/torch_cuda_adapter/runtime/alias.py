"""A module `torchada` for programs that import it, on any platform. Never in the real one's place."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.runtime import activation, detection

_NAME = "torchada"


class _Torchada(ModuleType):
    """torchada's names, as `detection` has them."""

    __all__ = (
        "CUDA_HOME",
        "Platform",
        "detect_platform",
        "is_cpu_platform",
        "is_cuda_platform",
        "is_gpu_device",
        "is_musa_platform",
    )

    def __getattr__(self, name: str) -> object:
        if name not in self.__all__:
            raise AttributeError(
                f"module {_NAME!r} of torch_cuda_adapter has no attribute {name!r}"
            )
        return getattr(detection, name)


def install() -> None:
    """Lets `import torchada` get the adapter, which is activated.

    Raises:
        AdapterError: torchada itself is installed; or the adapter cannot be activated.
    """
    present = sys.modules.get(_NAME)
    if isinstance(present, _Torchada):
        return
    if present is not None or importlib.util.find_spec(_NAME) is not None:
        raise AdapterError(
            f"found {_NAME} installed, whose name is not taken from it; python -m pip uninstall {_NAME}, "
            "or import torch_cuda_adapter.auto instead"
        )
    activation.activate()
    module = _Torchada(_NAME, "torch_cuda_adapter by torchada's names.")
    sys.modules[_NAME] = module


def remove() -> None:
    """Takes the module away again."""
    if isinstance(sys.modules.get(_NAME), _Torchada):
        del sys.modules[_NAME]
