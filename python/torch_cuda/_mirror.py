"""A second name for a package of torch: `torch_cuda.core.streams` is `torch.cuda.streams`.

The modules are the same objects under both names, so that nothing exists twice.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType


class MirrorFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the submodules of one package as those of another.

    Args:
      alias: the package that gets the submodules, such as "torch_cuda.core".
      original: the package that has them, such as "torch.cuda".
      only: the names of the submodules; None for all that there are.
    """

    def __init__(self, alias: str, original: str, only: Sequence[str] | None = None) -> None:
        self._alias = alias
        self._original = original
        self._only = None if only is None else frozenset(only)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Finds `fullname` if it is a submodule of the alias (`importlib.abc.MetaPathFinder`)."""
        del path, target
        if not fullname.startswith(f"{self._alias}."):
            return None
        name = fullname.removeprefix(f"{self._alias}.")
        if self._only is not None and name.partition(".")[0] not in self._only:
            return None
        original = f"{self._original}.{name}"
        # Modules that torch replaced by an object of its own have no spec to be found.
        if original not in sys.modules and importlib.util.find_spec(original) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Imports the original, which becomes the module (`importlib.abc.Loader`)."""
        name = spec.name.removeprefix(f"{self._alias}.")
        module = importlib.import_module(f"{self._original}.{name}")
        # The import system is about to write the alias's over them.
        spec.loader_state = {key: vars(module).get(key, _ABSENT) for key in _OWN}
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module its own attributes back; it was executed under its own name."""
        spec = module.__spec__
        assert spec is not None
        for key, value in spec.loader_state.items():
            if value is _ABSENT:
                vars(module).pop(key, None)
            else:
                vars(module)[key] = value


# What the import system writes on a module that a loader gives it.
_OWN = ("__spec__", "__loader__", "__package__", "__path__", "__file__", "__cached__")
_ABSENT = object()


def mirror(alias: str, original: str, only: Sequence[str] | None = None) -> None:
    """Makes the submodules of `original` importable as submodules of `alias`, too.

    Args:
      alias: an imported package.
      original: an imported package.
      only: the names of the submodules; None for all that there are.
    """
    sys.meta_path.append(MirrorFinder(alias, original, only))


def attribute(alias: str, original: ModuleType, name: str) -> object:
    """Looks up an attribute of a mirrored package, for its `__getattr__` (PEP 562).

    Args:
      alias: name of the mirroring package.
      original: the mirrored package.
      name: of the attribute.

    Returns:
      The attribute as it is now. It is not kept, so that it never grows old.

    Raises:
      AttributeError: there is none.
    """
    try:
        return getattr(original, name)
    except AttributeError:
        raise AttributeError(f"module {alias!r} has no attribute {name!r}") from None
