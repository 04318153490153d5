"""`torch.cuda` says, if it is asked to, that there is a common name."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

import torch

# Whose own use of torch.cuda is not the program's.
_OURS = ("torch", "torch_cuda", "torch_pu")
_said: set[str] = set()
_plain: type[ModuleType] | None = None


def announce(on: bool = True) -> None:
    """Has ``torch.cuda.NAME`` give one DeprecationWarning for each name, which says ``torch.pu.NAME``.

    Off unless the environment has ``TORCH_PU_ANNOUNCE=1``. What torch does itself gives none.

    Args:
      on: whether to.
    """
    global _plain
    if on and _plain is None:
        _plain = type(torch.cuda)
        torch.cuda.__class__ = _announcing(_plain)
    elif not on and _plain is not None:
        torch.cuda.__class__ = _plain
        _plain = None
        _said.clear()


def _announcing(plain: type[ModuleType]) -> type[ModuleType]:
    class AnnouncingModule(plain):  # type: ignore[misc, valid-type]
        """`torch.cuda` while it announces the other name."""

        def __getattribute__(self, name: str) -> object:
            value = super().__getattribute__(name)
            if not name.startswith("_") and name not in _said:
                caller = sys._getframe(1).f_globals.get("__name__", "")
                if caller.partition(".")[0] not in _OURS:
                    _said.add(name)
                    warnings.warn(
                        f"torch.cuda.{name} has a name that all devices share: torch.pu.{name}",
                        DeprecationWarning,
                        stacklevel=2,
                    )
            return value

    return AnnouncingModule
