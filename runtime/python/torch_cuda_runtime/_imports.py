"""Does something around the import of modules, whoever imports them. Interpreters start with it: it imports `sys` alone."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs more than all of this
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class Watch:
    """What is done around one import; each may be left out.

    Args:
        before: called with the module's spec before its code runs.
        after: called with the module when its code has run.
        failed: called with the exception that its code raised; it may raise another one.
    """

    def __init__(
        self,
        before: Callable[[ModuleSpec], None] | None = None,
        after: Callable[[ModuleType], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        self.before = before
        self.after = after
        self.failed = failed


class Finder:
    """Finds watched modules as the other finders do, with a loader that does more.

    Programs that only ask whether a module is there change nothing.

    Args:
        watches: by the name of the module.
    """

    def __init__(self, watches: dict[str, Watch]) -> None:
        self.watches = watches
        self._busy: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        watch = self.watches.get(fullname)
        if watch is None or fullname in self._busy:
            return None
        import importlib.util

        self._busy.add(fullname)  # for this very call comes back
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy.discard(fullname)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, watch)  # type: ignore[assignment]
        return spec


class _Loader:
    def __init__(self, loader: Any, watch: Watch) -> None:
        self._loader = loader
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        # What else loaders can do: give the source, files of the package.
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """See importlib.abc.Loader."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """See importlib.abc.Loader."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
            if self._watch.before is not None:
                self._watch.before(module.__spec__)
        try:
            self._loader.exec_module(module)
        except Exception as error:
            if self._watch.failed is not None:
                self._watch.failed(error)
            raise
        if self._watch.after is not None:
            self._watch.after(module)


def watch(watches: dict[str, Watch]) -> None:
    """Watches modules from now on, but for those that are imported already.

    Args:
        watches: by the name of the module; one that is watched already stays as it is.
    """
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            finder.watches = {**watches, **finder.watches}
            return
    # In front: the import system's own finder would find them first.
    sys.meta_path.insert(0, Finder(watches))


def is_watched(name: str) -> bool:
    """Whether something is done around the import of a module."""
    return any(isinstance(finder, Finder) and name in finder.watches for finder in sys.meta_path)
