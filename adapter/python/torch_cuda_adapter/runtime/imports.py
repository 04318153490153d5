"""Changes modules of torch when a program imports them, and not before."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from torch_cuda_adapter.runtime.journal import Journal

Action = Callable[[ModuleType], None]


def after_import(name: str, action: Action, journal: Journal) -> None:
    """Calls a function with a module after its import, or at once if it is imported.

    Args:
        name: of the module.
        action: gets the module before its importer does.
        journal: takes the function away.
    """
    module = sys.modules.get(name)
    if module is not None:
        action(module)
        return
    finder = _Finder(name, action)
    sys.meta_path.insert(0, finder)
    journal.on_restore(lambda: sys.meta_path.remove(finder))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, action: Action) -> None:
        self._name = name
        self._action = action
        self._asks = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name or self._asks:
            return None
        # The other finders are asked: a backend may wait for the same module.
        self._asks = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asks = False
        if spec is not None and spec.loader is not None:
            same = [
                finder
                for finder in sys.meta_path
                if isinstance(finder, _Finder) and finder._name == fullname
            ]
            # The last one given is the first in the list, and the only one that is asked.
            spec.loader = _Loader(spec.loader, [finder._action for finder in reversed(same)])
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, actions: Sequence[Action]) -> None:
        self._loader = loader
        self._actions = actions

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Its source is asked for through its loader.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        for action in self._actions:
            action(module)
