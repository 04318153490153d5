"""Modules that CUDA programs import, under the platform's: `sgl_kernel.flash_attn` is `flash_attn_interface`.

Nothing is imported before the program imports it. Where the platform's module is not installed, the program's import
goes its usual way, and fails as it does without the adapter.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime import imports
from torch_cuda_adapter.runtime.journal import Journal


def change(platform: Platform, journal: Journal) -> None:
    """Lets modules of the platform be found under the names that CUDA programs import.

    A module that is installed wins, unless the platform's file says that its own replaces it.

    Args:
        platform: its table `modules` says which module stands for which.
        journal: takes the finders away, and out of `sys.modules` what they brought.
    """
    table = platform.table("modules")
    brought: dict[str, ModuleType] = {}
    first = {name: entry["module"] for name, entry in table.items() if "replaces" in entry}
    last = {name: entry["module"] for name, entry in table.items() if "replaces" not in entry}
    for name, own in first.items():
        parent = name.rpartition(".")[0]
        if parent:
            imports.after_import(parent, _Swap(name, own, journal), journal)
    _insert(_Finder(first, brought), 0, journal)
    _insert(_Finder(last, brought), len(sys.meta_path), journal)
    # A made-up package would say that one is installed which is not.
    free = {name: entry["module"] for name, entry in table.items() if "part" not in entry}
    _insert(_Parents(free, brought), len(sys.meta_path), journal)
    # Called before the finders go.
    journal.on_restore(lambda: _forget(brought))


def _insert(finder: importlib.abc.MetaPathFinder, index: int, journal: Journal) -> None:
    sys.meta_path.insert(index, finder)
    journal.on_restore(lambda: sys.meta_path.remove(finder))


def _forget(brought: dict[str, ModuleType]) -> None:
    for name, module in brought.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]
        parent, _, child = name.rpartition(".")
        inside = vars(sys.modules.get(parent, object)).get(child)
        # What is its parent's own has the parent's name.
        if inside is module and module.__name__ != name:
            delattr(sys.modules[parent], child)
    brought.clear()


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the platform's modules, and what is in them, under other names."""

    def __init__(self, names: Mapping[str, str], brought: dict[str, ModuleType]) -> None:
        self._names = names
        self._brought = brought

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        for name, own in self._names.items():
            if fullname == name or fullname.startswith(name + "."):
                if _begins(name):
                    return None
                found = _find(own + fullname[len(name) :])
                if found is not None:
                    return importlib.machinery.ModuleSpec(
                        fullname,
                        _Loader(found.name, self._brought),
                        origin=found.origin,
                        is_package=found.submodule_search_locations is not None,
                    )
        return None


class _Loader(importlib.abc.Loader):
    """Puts another module into the place of the one that is loaded."""

    def __init__(self, own: str, brought: dict[str, ModuleType]) -> None:
        self._own = own
        self._brought = brought

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        own = importlib.import_module(self._own)
        sys.modules[module.__name__] = own
        self._brought[module.__name__] = own


class _Parents(importlib.abc.MetaPathFinder):
    """Makes the packages that the names are in, where nobody has them, and while there is something in them."""

    def __init__(self, names: Mapping[str, str], brought: dict[str, ModuleType]) -> None:
        self._names = names
        self._brought = brought

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        inside = [own for name, own in self._names.items() if name.startswith(fullname + ".")]
        if not any(_find(own) for own in inside):
            return None
        loader = _EmptyLoader(self._brought)
        return importlib.machinery.ModuleSpec(
            fullname, loader, origin="torch_cuda_adapter", is_package=True
        )


class _EmptyLoader(importlib.abc.Loader):
    def __init__(self, brought: dict[str, ModuleType]) -> None:
        self._brought = brought

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self._brought[module.__name__] = module


class _Swap:
    """For a package that imports by itself what is replaced, as Triton does."""

    def __init__(self, name: str, own: str, journal: Journal) -> None:
        self._name = name
        self._own = own
        self._journal = journal

    def __call__(self, parent: ModuleType) -> None:
        if self._name not in sys.modules or _find(self._own) is None:
            return
        own = importlib.import_module(self._own)
        if sys.modules[self._name] is not own:
            for name in [name for name in sys.modules if name.startswith(self._name + ".")]:
                inside = sys.modules.pop(name)
                self._journal.on_restore(functools.partial(sys.modules.__setitem__, name, inside))
            self._journal.set_item(sys.modules, self._name, own)
        child = self._name.rpartition(".")[2]
        if vars(parent).get(child) is not own:
            self._journal.set_attribute(parent, child, own)


def _begins(name: str) -> bool:
    """Whether an installed package is a part of one whose import has only begun.

    It imports its own parts, which the platform's need not have; it is replaced when the import has ended.
    """
    parent = sys.modules.get(name.rpartition(".")[0])
    if not getattr(getattr(parent, "__spec__", None), "_initializing", False):
        return False
    spec = importlib.machinery.PathFinder.find_spec(name, getattr(parent, "__path__", None))
    return spec is not None and spec.submodule_search_locations is not None


def _find(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        # A package that it is in is not there, or it has no spec.
        return None
