"""Serves `torch.cuda` from the platform's namespace.

The modules stay the objects that they are; their functions and classes become the platform's. Who
took one of them before has it delegate.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.cuda_build import behind
from torch_cuda_adapter.runtime.cuda_names import CudaNames
from torch_cuda_adapter.runtime.delegates import delegate
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.runtime.platform_modules import look_up
from torch_cuda_adapter.runtime.runtime_library import CudaRuntime

_ROOT = "torch.cuda"

# Loaded for what they define; others are changed if a program has loaded them.
_MODULES = (
    "graphs",
    "jiterator",
    "memory",
    "nccl",
    "nvtx",
    "profiler",
    "random",
    "streams",
    "tunable",
    "comm",
)

# They hold for any device, in the words of its program.
_KEPT = ("amp", "_utils", "_memory_viz", "sparse", "gds", "error")


def change(platform: Platform, namespace: ModuleType, journal: Journal) -> None:
    """Lets `torch.cuda` do what the platform's namespace does.

    Args:
        platform: the platform.
        namespace: its counterpart of `torch.cuda`.
        journal: puts everything back.
    """
    for name in _MODULES:
        importlib.import_module(f"{_ROOT}.{name}")
    names = CudaNames(platform, namespace)
    modules = list(_modules())
    replaced: dict[int, tuple[Any, Any]] = {}
    for inner, module in modules:
        for name, original in list(vars(module).items()):
            if getattr(original, "__module__", None) != module.__name__ or not callable(original):
                continue
            target = names.find(inner, name, original)
            if target is not original:
                replaced[id(original)] = (original, target)
    # A name stands in several modules: torch.cuda.empty_cache is torch.cuda.memory.empty_cache.
    for _, module in modules:
        for name, value in list(vars(module).items()):
            if id(value) in replaced and replaced[id(value)][0] is value:
                journal.set_attribute(module, name, replaced[id(value)][1])
    for original, target in replaced.values():
        delegate(original, target, journal)
    _set_values(platform, namespace, journal)


def _modules() -> Iterator[tuple[str, ModuleType]]:
    for name, module in list(sys.modules.items()):
        inner = name.removeprefix(_ROOT).removeprefix(".")
        is_inside = name == _ROOT or name.startswith(f"{_ROOT}.")
        if is_inside and isinstance(module, ModuleType) and inner.partition(".")[0] not in _KEPT:
            yield inner, module


def _set_values(platform: Platform, namespace: ModuleType, journal: Journal) -> None:
    table = platform.table("cuda")
    # What cudart(), check_error() and torch.cuda.profiler take their functions from.
    journal.set_attribute(torch.cuda, "_cudart", CudaRuntime(platform))
    if hasattr(namespace, "default_generators"):
        journal.set_attribute(torch.cuda, "default_generators", namespace.default_generators)
    # Errors that programs catch.
    for name in ("OutOfMemoryError", "AcceleratorError", "DeferredCudaCallError"):
        if hasattr(namespace, name):
            journal.set_attribute(torch.cuda, name, getattr(namespace, name))
    if not hasattr(namespace, "nvtx"):
        journal.set_attribute(torch.cuda.nvtx, "_nvtx", _QuietMarks())
    for name, attributes in table.get("attributes", {}).items():
        owner = getattr(torch.cuda, name)
        for ours, theirs in attributes.items():
            if not hasattr(owner, ours):
                journal.set_attribute(owner, ours, _second_name(theirs))
    bindings = {"_cuda_getCurrentRawStream": _raw_stream}
    for name, path in table.get("bindings", {}).items():
        function = look_up(path)
        if function is not None:
            bindings[name] = function
    for name, function in bindings.items():
        journal.set_attribute(torch._C, name, function)
    built = torch.backends.cuda.is_built
    journal.set_attribute(torch.backends.cuda, "is_built", lambda: True)
    delegate(built, torch.backends.cuda.is_built, journal)
    # It warns that a build without cuDNN had better have it.
    acceptable = torch.backends.cudnn.is_acceptable
    journal.set_attribute(behind(torch.backends.cudnn), "is_acceptable", lambda tensor: False)
    delegate(acceptable, torch.backends.cudnn.is_acceptable, journal)


def _raw_stream(index: int) -> int:
    """A device's current stream, as the number that is passed to kernels."""
    stream: int = torch.cuda.current_stream(index).cuda_stream
    return stream


def _second_name(name: str) -> property:
    def read(self: Any) -> Any:
        return getattr(self, name)

    return property(read, doc=f"What `{name}` is.")


class _QuietMarks:
    """NVTX where no profiler reads it: ranges nest, and nobody is told."""

    def __init__(self) -> None:
        self._depth = 0

    def rangePushA(self, message: str) -> int:
        self._depth += 1
        return self._depth - 1

    def rangePop(self) -> int:
        self._depth = max(self._depth - 1, -1)
        return self._depth

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args: 0
