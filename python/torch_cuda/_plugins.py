"""Plugins: wheels that add to an active torch_cuda, each on its own.

They are found through the entry points of the group `torch_cuda.plugins` and known by nothing else.
What goes wrong with one becomes one warning; the core and the other plugins go on working. How to
write one: docs/plugins.md.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import pathlib
from typing import TYPE_CHECKING, Protocol

from torch_cuda import _checks
from torch_cuda._build import DISTRIBUTION, reinstall_command
from torch_cuda._errors import ActivationError, plugin_warning, warn

if TYPE_CHECKING:
    from torch_cuda._swap import Swap

GROUP = "torch_cuda.plugins"
"""Entry points: the name is the plugin's distribution, the value a function that returns it."""


class Plugin(Protocol):
    """What the function behind an entry point returns.

    Attributes:
      version: the VERSION that the build wrote into the plugin's wheel.
    """

    @property
    def version(self) -> str: ...

    def load(self) -> Swap:
        """Loads the plugin's libraries and computes what it changes in torch, changing nothing.

        Returns:
          The changes, which are made at once.

        Raises:
          ActivationError: it cannot be used here; any other exception is reported as well, with
            less to say about what to do.
        """
        ...


@dataclasses.dataclass(frozen=True)
class PluginState:
    """An installed plugin in this process.

    Attributes:
      name: of the plugin and of its distribution.
      version: of its distribution.
      why_inactive: the reason in words, or None when it is active.
    """

    name: str
    version: str
    why_inactive: str | None

    @property
    def active(self) -> bool:
        """Whether torch uses the plugin in this process."""
        return self.why_inactive is None


_states: list[PluginState] = []


def states(not_tried: str | None) -> tuple[PluginState, ...]:
    """All installed plugins, in the order of their names.

    Args:
      not_tried: why none of them was tried, or None when `activate_all` has run.

    Returns:
      What became of each.
    """
    if not_tried is None:
        return tuple(_states)
    return tuple(
        PluginState(name, _version(entries[0]), not_tried) for name, entries in _found().items()
    )


def activate_all(core_version: str) -> None:
    """Activates every installed plugin, in the order of their names.

    Args:
      core_version: version of the active torch_cuda, which has to be that of each plugin.
    """
    _states.clear()
    for name, entries in _found().items():
        reason = None
        try:
            _activate(name, entries, core_version)
        except ActivationError as error:
            reason = str(error)
            warn(plugin_warning(name, error))
        _states.append(PluginState(name, _version(entries[0]), reason))


def package_folder(name: str) -> pathlib.Path | None:
    """The folder of an installed plugin's Python package, or None where it has no files."""
    entry = _found()[name][0]
    if entry.dist is None:
        return None
    return pathlib.Path(str(entry.dist.locate_file(entry.module.partition(".")[0])))


def _found() -> dict[str, list[importlib.metadata.EntryPoint]]:
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for entry in importlib.metadata.entry_points(group=GROUP):
        found.setdefault(entry.name, []).append(entry)
    return dict(sorted(found.items()))


def _version(entry: importlib.metadata.EntryPoint) -> str:
    return entry.dist.version if entry.dist is not None else "unknown"


def _activate(name: str, entries: list[importlib.metadata.EntryPoint], core_version: str) -> None:
    if len(entries) > 1:
        owners = " and ".join(
            sorted(entry.dist.name if entry.dist else "an unnamed package" for entry in entries)
        )
        raise ActivationError(
            found=f"{len(entries)} plugins that are called {name}, from {owners}",
            needed="one",
            fix="python -m pip uninstall the other",
        )
    # From the metadata first: the code of another version may not even import here.
    _check_version(name, _version(entries[0]), core_version)
    _check_files(name, core_version)
    try:
        plugin: Plugin = entries[0].load()()
        _check_version(name, plugin.version, core_version)
        plugin.load().apply()
    except ActivationError:
        raise
    except Exception as error:
        # Nobody foresaw it, but `import torch` has to go on all the same.
        raise ActivationError(
            found=f"an error while {name} was activated, {type(error).__name__}: {error}",
            needed="an activation without errors, and an undamaged wheel",
            fix=f"{reinstall_command(core_version, name)}\n"
            "If that does not help: report what `python -m torch_cuda doctor` prints",
        ) from error


def _check_version(name: str, found: str, core_version: str) -> None:
    if found != core_version:
        raise ActivationError(
            found=f"{name} {found} beside {DISTRIBUTION} {core_version}",
            needed="both of the same version",
            fix=f'python -m pip install "{name}=={core_version}"\n'
            f'or python -m pip install "{DISTRIBUTION}=={found}"',
        )


def _check_files(name: str, core_version: str) -> None:
    package = package_folder(name)
    wrong = [] if package is None else _checks.wrong_files(package)
    if wrong:
        raise ActivationError(
            found=f"a damaged wheel: {_checks.listed(wrong)}",
            needed=f"the files that {name} {core_version} was installed with",
            fix=reinstall_command(core_version, name),
        )
