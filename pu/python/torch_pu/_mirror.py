"""Submodules of one package under the name of another: `torch.pu.streams` is `torch.cuda.streams`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

# What the import system writes on a module that a loader gives it.
_WRITTEN = ("__spec__", "__loader__", "__package__", "__path__", "__file__", "__cached__")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, alias: str, original: str) -> None:
        self._alias = f"{alias}."
        self._original = f"{original}."

    def _name(self, fullname: str) -> str:
        return self._original + fullname.removeprefix(self._alias)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Finds what is below the alias, if the original has it."""
        if not fullname.startswith(self._alias):
            return None
        name = self._name(fullname)
        # What torch put into sys.modules itself has no spec to be found.
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Imports the original, which is the module."""
        module = importlib.import_module(self._name(spec.name))
        spec.loader_state = {name: vars(module)[name] for name in _WRITTEN if name in vars(module)}
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module its own attributes back: it was executed under its own name."""
        assert module.__spec__ is not None
        own = module.__spec__.loader_state
        for name in _WRITTEN:
            vars(module).pop(name, None)
        vars(module).update(own)


def mirror(alias: str, original: str) -> None:
    """Has the submodules of `original` imported as those of `alias`, too.

    Args:
      alias: an imported package.
      original: an imported package.
    """
    sys.meta_path.append(_Finder(alias, original))


def attribute(alias: str, original: ModuleType, name: str) -> object:
    """Looks up an attribute of a mirrored package, for its `__getattr__` (PEP 562).

    Args:
      alias: name of the mirroring package.
      original: the mirrored package.
      name: of the attribute.

    Returns:
      The attribute as it is now.

    Raises:
      AttributeError: there is none.
    """
    try:
        return getattr(original, name)
    except AttributeError:
        raise AttributeError(f"module {alias!r} has no attribute {name!r}") from None
