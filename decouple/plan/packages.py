"""The packages of this repository, as packages.bzl assigns them."""

from __future__ import annotations

import functools
import pathlib
import runpy
from collections.abc import Sequence
from typing import Any

_RULES = pathlib.Path(__file__).with_name("packages.bzl")


@functools.cache
def _globals() -> dict[str, Any]:
    return runpy.run_path(str(_RULES))


def layers() -> dict[str, frozenset[str]]:
    """Each layer, lowest first, with the layers that it may depend on."""
    return {layer: frozenset(below) for layer, below in _globals()["LAYERS"].items()}


def layer_of(package: str) -> str:
    """The layer that a package is in; "" where it is in none."""
    inside = [layer for layer in layers() if f"{package}/".startswith(f"{layer}/")]
    return max(inside, key=len, default="")


def cut_package_of(path: str) -> str:
    """The package that supplies what is cut out of a file of all devices; "" where none does."""
    package: str = _globals()["cut_package_of"](path)
    return package


def package_of(path: str, lists: Sequence[str] = ()) -> str:
    """The package that owns a file of upstream's CUDA code.

    Args:
        path: relative to the tree.
        lists: upstream's lists that name it.

    Returns:
        Such as "aten_cuda/core"; "" where no package does.
    """
    package: str = _globals()["package_of"](path, list(lists))
    return package
