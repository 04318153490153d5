"""Waits for the import of torch and of cuda-bindings. Interpreters start with it, so it imports next to nothing.

torch_cuda_runtime.pth calls `install` where the environment asks for devices.
"""

from __future__ import annotations

import sys

from torch_cuda_runtime import _asked, _cuda_python

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs more than all of this
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


def install() -> None:
    """Has what is imported later get devices, if the environment asks for some: torch, cuda-bindings."""
    if _asked.requested_by() is None:
        return
    # In front: the import system's own finder would find them first.
    if not any(isinstance(finder, _cuda_python.Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _cuda_python.Finder())
    if "torch" not in sys.modules and not is_installed():
        sys.meta_path.insert(0, TorchFinder())


def is_installed() -> bool:
    """Whether this process waits for the import of torch."""
    return any(isinstance(finder, TorchFinder) for finder in sys.meta_path)


class TorchFinder:
    """Finds torch as the other finders do, with a loader that does more."""

    def __init__(self) -> None:
        self._busy = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See importlib.abc.MetaPathFinder; programs that only ask whether torch is there call it, too."""
        if fullname != "torch" or self._busy:
            return None
        import importlib.util

        self._busy = True  # for this very call comes back
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy = False
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = TorchLoader(spec.loader, self)  # type: ignore[assignment]
        return spec


class TorchLoader:
    """Loads torch as its own loader does, with our libraries before it and the router after it."""

    def __init__(self, loader: Any, finder: TorchFinder) -> None:
        self._loader = loader
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        # What else loaders can do: give the source, files of the package.
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """See importlib.abc.Loader."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """See importlib.abc.Loader."""
        from torch_cuda_runtime import _stock

        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
            _stock.before_torch(module.__spec__)
        try:
            self._loader.exec_module(module)
        except (
            ImportError,
            OSError,
            ValueError,
        ) as error:  # what torch raises for want of a library
            _stock.import_failed(error)
            raise
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        _stock.after_torch(module)
