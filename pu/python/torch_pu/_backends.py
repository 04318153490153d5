"""The module `torch.backends.pu`: everything of `torch.backends.cuda`, the same objects."""

from __future__ import annotations

import torch

from torch_pu import _mirror

__path__: list[str] = []


def __getattr__(name: str) -> object:
    """Looks up `name` on `torch.backends.cuda` (PEP 562)."""
    return _mirror.attribute("torch.backends.pu", torch.backends.cuda, name)


def __dir__() -> list[str]:
    return dir(torch.backends.cuda)
