"""Functions in float64 that others of libdevice are made of, for Triton's kernels."""

# ruff: noqa: D103, PLR0124
# mypy: disable-error-code="no-untyped-def, no-untyped-call, import-not-found, import-untyped, misc"

from __future__ import annotations

import triton.language as tl

# Triton's package of extras imports this when `triton.jit` and the names in `tl` are not there yet.
from triton.runtime.jit import jit


@jit
def negative(x):
    """Whether the bit of the sign is set: of zeros and NaNs as well."""
    if x.dtype.is_fp64():
        bits = x.to(tl.int64, bitcast=True)
    else:
        bits = x.to(tl.int32, bitcast=True)
    return bits < 0


@jit
def with_sign(magnitude, negative):
    return tl.where(negative, -magnitude, magnitude)


@jit
def log1p(a):
    # The error that 1 + a makes is divided out again.
    u = 1.0 + a
    exact = tl.log(u) * (a / (u - 1.0))
    return tl.where(u == 1.0, a, tl.where(u == float("inf"), u, exact))


@jit
def expm1(a):
    u = tl.exp(a)
    d = u - 1.0
    exact = d * (a / tl.log(u))
    return tl.where(u == 1.0, a, tl.where((d == -1.0) | (u == float("inf")), d, exact))


@jit
def atan(a):
    b = tl.abs(a)
    # Of arguments up to 1: a rough start, and two steps that cube its error.
    r = tl.where(b > 1.0, 1.0 / b, b)
    y = r / (1.0 + 0.28 * r * r)
    y = y + (r * tl.cos(y) - tl.sin(y)) / (tl.cos(y) + r * tl.sin(y))
    y = y + (r * tl.cos(y) - tl.sin(y)) / (tl.cos(y) + r * tl.sin(y))
    y = tl.where(b > 1.0, 1.5707963267948966 - y, y)
    return with_sign(y, negative(a))


@jit
def atan2(a, b):
    y = atan(tl.abs(a) / tl.where(b == 0.0, 1.0, tl.abs(b)))
    y = tl.where(b == 0.0, tl.where(a == 0.0, 0.0, 1.5707963267948966), y)
    both = (tl.abs(a) == float("inf")) & (tl.abs(b) == float("inf"))
    y = tl.where(both, 0.7853981633974483, y)
    y = tl.where(negative(b), 3.141592653589793 - y, y)
    return tl.where((a != a) | (b != b), a + b, with_sign(y, negative(a)))


@jit
def cbrt(a):
    b = tl.abs(a)
    root = tl.exp2(tl.log2(tl.where((b == 0.0) | (b == float("inf")), 1.0, b)) / 3.0)
    root = root - (root * root * root - b) / (3.0 * root * root)
    return with_sign(tl.where((b == 0.0) | (b == float("inf")), b, root), negative(a))


@jit
def trunc(a):
    return with_sign(tl.floor(tl.abs(a)), negative(a))


@jit
def rint(a):
    b = tl.abs(a)
    whole = tl.floor(b)
    rest = b - whole
    up = (rest > 0.5) | ((rest == 0.5) & (whole % 2.0 == 1.0))
    return with_sign(tl.where(up, whole + 1.0, whole), negative(a))


@jit
def hypot(a, b):
    large = tl.maximum(tl.abs(a), tl.abs(b))
    small = tl.minimum(tl.abs(a), tl.abs(b))
    r = small / tl.where(large == 0.0, 1.0, large)
    infinite = (tl.abs(a) == float("inf")) | (tl.abs(b) == float("inf"))
    return tl.where(
        infinite, float("inf"), large * tl.sqrt(1.0 + r * r) + 0.0 * tl.where(infinite, 0.0, a + b)
    )
