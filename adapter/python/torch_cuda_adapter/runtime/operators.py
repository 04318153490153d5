"""Operators that releases of a backend lack or have wrong, mended for those releases alone.

A mend is a kernel for the backend's dispatch key, in the place of its own; `restore()` gives that back.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import warnings
from collections.abc import Callable
from typing import Any

import torch
from packaging.version import InvalidVersion, Version

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal

Kernel = Callable[..., Any]


def change(platform: Platform, journal: Journal) -> None:
    """Mends what the installed release of the backend needs mended.

    Args:
        platform: its table `operators` says which, how, and below which release.
        journal: takes the mends away.
    """
    device = platform.table("device")
    found = release(device["module"])
    libraries: dict[str, torch.library.Library] = {}
    for name, entry in platform.table("operators").items():
        if found is not None and "below" in entry and found >= Version(entry["below"]):
            continue
        space, _, operator = name.partition("::")
        if space not in libraries:
            libraries[space] = torch.library.Library(space, "IMPL")
            journal.on_restore(libraries[space]._destroy)
        with warnings.catch_warnings():
            # That there is a kernel already.
            warnings.simplefilter("ignore")
            kernel = _MENDS[entry["mend"]](space, operator)
            libraries[space].impl(operator, kernel, device["dispatch_key"])


def release(module: str) -> Version | None:
    """The version of a backend: its module's, else that of the distribution of this name.

    Args:
        module: the backend's, which can be imported.

    Returns:
        Nothing where there is none that can be read; such a release is mended.
    """
    text = getattr(importlib.import_module(module), "__version__", None)
    try:
        return Version(str(text) if text else importlib.metadata.version(module))
    except (importlib.metadata.PackageNotFoundError, InvalidVersion):
        return None


def _overload(space: str, operator: str) -> Any:
    name, _, overload = operator.partition(".")
    return getattr(getattr(getattr(torch.ops, space), name), overload or "default")


def _out_of_place(space: str, operator: str) -> Kernel:
    """For an operator that changes its first argument: the other form, and its result copied."""
    name, dot, overload = operator.partition(".")
    functional = _overload(space, name.removesuffix("_") + dot + overload)

    def kernel(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return self.copy_(functional(self, *args, **kwargs))

    return kernel


def _finite_by_comparison(space: str, operator: str) -> Kernel:
    """For isfinite of real numbers: a comparison, which no host waits for."""
    composite = _overload(space, operator)

    def kernel(self: torch.Tensor) -> torch.Tensor:
        if self.is_floating_point():
            return self.abs() < math.inf
        # The operator has no kernel of its own that could be covered.
        answer: torch.Tensor = composite.decompose(self)
        return answer

    return kernel


_MENDS: dict[str, Callable[[str, str], Kernel]] = {
    "finite-by-comparison": _finite_by_comparison,
    "out-of-place": _out_of_place,
}
