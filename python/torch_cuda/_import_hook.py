"""Does something to a module when it is imported, and not before.

For modules of torch that most processes never import, so that activation does not pay for them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType

from torch_cuda._errors import ActivationWarning

Action = Callable[[ModuleType], None]


def after_import(name: str, action: Action) -> None:
    """Calls a function with a module right after its import, or now if it is imported already.

    If the function finds the module other than it expects, the import goes on, with an
    `ActivationWarning`.

    Args:
      name: of the module.
      action: gets the module before its importer does.
    """
    module = sys.modules.get(name)
    if module is not None:
        _act(action, module)
        return
    # In front: the import system's own finder would find it first.
    sys.meta_path.insert(0, _Finder(name, action))


def _act(action: Action, module: ModuleType) -> None:
    try:
        action(module)
    except (AttributeError, ImportError, LookupError, OSError) as error:
        warnings.warn(
            f"torch_cuda could not extend {module.__name__}, which stays as it was: "
            f"{type(error).__name__}: {error}",
            ActivationWarning,
            stacklevel=3,
        )


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, action: Action) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._action)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads a module as its own loader does, then acts on it."""

    def __init__(self, loader: importlib.abc.Loader, action: Action) -> None:
        self._loader = loader
        self._action = action

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Its source is asked for through its loader, in tracebacks for one.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _act(self._action, module)
