"""Functions of CUDA's libdevice, by the names that Triton gives them: those of the adapter's tests, made of Triton's own operations.

One that is not here raises NotImplementedError with its name when a kernel calls it.
"""

# What each does, CUDA's libdevice user's guide says.
# ruff: noqa: D103
# mypy: disable-error-code="no-untyped-def, no-untyped-call, import-not-found, import-untyped, misc"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import triton.language as tl

# Triton's package of extras imports this when `triton.jit` and the names in `tl` are not there yet.
from triton.runtime.jit import jit


@jit
def tanh(x):
    return (1.0 - 2.0 / (tl.exp(2.0 * x.to(tl.float64)) + 1.0)).to(x.dtype)


@jit
def hypot(x, y):
    a = x.to(tl.float64)
    b = y.to(tl.float64)
    return tl.sqrt(a * a + b * b).to(x.dtype)


@jit
def cbrt(x):
    a = x.to(tl.float64)
    root = tl.exp2(tl.log2(tl.abs(a)) / 3.0)
    return tl.where(a < 0.0, -root, root).to(x.dtype)


_ABSENT = ("fmod", "j0")


def __getattr__(name: str) -> Callable[..., NoReturn]:
    """A function that raises, for those of libdevice that tests expect not to be here."""
    if name not in _ABSENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def absent(*_args: Any, **_options: Any) -> NoReturn:
        raise NotImplementedError(
            f"libdevice.{name}: the stand-in has no such function. Run this kernel on a device that Triton has a compiler for"
        )

    return absent
