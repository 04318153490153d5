"""CUDA's libdevice, by the names that Triton gives its functions, made of Triton's own operations.

Numbers of type float32 are computed in float64 where a result needs more digits than its operands have; a `fast_` variant is as exact as
the other. What Triton's operations cannot make raises NotImplementedError with its name when a kernel calls it.
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

from torch_stand_in.triton_extra import double


@jit
def exp(x):
    a = x.to(tl.float64)
    return (tl.exp(a)).to(x.dtype)


@jit
def exp2(x):
    a = x.to(tl.float64)
    return (tl.exp2(a)).to(x.dtype)


@jit
def log(x):
    a = x.to(tl.float64)
    return (tl.log(a)).to(x.dtype)


@jit
def log2(x):
    a = x.to(tl.float64)
    return (tl.log2(a)).to(x.dtype)


@jit
def sqrt(x):
    a = x.to(tl.float64)
    return (tl.sqrt(a)).to(x.dtype)


@jit
def rsqrt(x):
    a = x.to(tl.float64)
    return (tl.rsqrt(a)).to(x.dtype)


@jit
def sin(x):
    a = x.to(tl.float64)
    return (tl.sin(a)).to(x.dtype)


@jit
def cos(x):
    a = x.to(tl.float64)
    return (tl.cos(a)).to(x.dtype)


@jit
def erf(x):
    a = x.to(tl.float64)
    return (tl.erf(a)).to(x.dtype)


@jit
def exp10(x):
    a = x.to(tl.float64)
    return (tl.exp2(a * 3.321928094887362)).to(x.dtype)


@jit
def expm1(x):
    a = x.to(tl.float64)
    return (double.expm1(a)).to(x.dtype)


@jit
def log1p(x):
    a = x.to(tl.float64)
    return (double.log1p(a)).to(x.dtype)


@jit
def log10(x):
    a = x.to(tl.float64)
    return (tl.log(a) * 0.4342944819032518).to(x.dtype)


@jit
def cbrt(x):
    a = x.to(tl.float64)
    return (double.cbrt(a)).to(x.dtype)


@jit
def rcbrt(x):
    a = x.to(tl.float64)
    return (1.0 / double.cbrt(a)).to(x.dtype)


@jit
def tan(x):
    a = x.to(tl.float64)
    return (tl.sin(a) / tl.cos(a)).to(x.dtype)


@jit
def sinpi(x):
    a = x.to(tl.float64)
    return (tl.sin((a % 2.0) * 3.141592653589793)).to(x.dtype)


@jit
def cospi(x):
    a = x.to(tl.float64)
    return (tl.cos((a % 2.0) * 3.141592653589793)).to(x.dtype)


@jit
def sinh(x):
    a = x.to(tl.float64)
    e = double.expm1(tl.abs(a))
    y = tl.where(e == float("inf"), e, 0.5 * (e + e / (e + 1.0)))
    return double.with_sign(y, double.negative(a)).to(x.dtype)


@jit
def cosh(x):
    a = x.to(tl.float64)
    return (0.5 * tl.exp(a) + 0.5 * tl.exp(-a)).to(x.dtype)


@jit
def tanh(x):
    a = x.to(tl.float64)
    e = double.expm1(-2.0 * tl.abs(a))
    return double.with_sign(-e / (e + 2.0), double.negative(a)).to(x.dtype)


@jit
def asinh(x):
    a = x.to(tl.float64)
    b = tl.abs(a)
    # The square of what is larger may be infinite.
    small = tl.where(b > 1e100, 1.0, b)
    y = double.log1p(small + small * small / (1.0 + tl.sqrt(1.0 + small * small)))
    y = tl.where(b > 1e100, tl.log(b) + 0.6931471805599453, y)
    return double.with_sign(y, double.negative(a)).to(x.dtype)


@jit
def acosh(x):
    a = x.to(tl.float64)
    t = tl.where(a > 1e100, 1.0, a - 1.0)
    y = double.log1p(t + tl.sqrt(t * (t + 2.0)))
    y = tl.where(a < 1.0, float("nan"), tl.where(a > 1e100, tl.log(a) + 0.6931471805599453, y))
    return y.to(x.dtype)


@jit
def atanh(x):
    a = x.to(tl.float64)
    b = tl.abs(a)
    return double.with_sign(0.5 * double.log1p(2.0 * b / (1.0 - b)), double.negative(a)).to(x.dtype)


@jit
def atan(x):
    a = x.to(tl.float64)
    return (double.atan(a)).to(x.dtype)


@jit
def asin(x):
    a = x.to(tl.float64)
    return (double.atan2(a, tl.sqrt((1.0 - a) * (1.0 + a)))).to(x.dtype)


@jit
def acos(x):
    a = x.to(tl.float64)
    return (double.atan2(tl.sqrt((1.0 - a) * (1.0 + a)), a)).to(x.dtype)


@jit
def atan2(x, y):
    return double.atan2(x.to(tl.float64), y.to(tl.float64)).to(x.dtype)


@jit
def hypot(x, y):
    return double.hypot(x.to(tl.float64), y.to(tl.float64)).to(x.dtype)


@jit
def rhypot(x, y):
    return (1.0 / double.hypot(x.to(tl.float64), y.to(tl.float64))).to(x.dtype)


@jit
def floor(x):
    a = x.to(tl.float64)
    return (tl.floor(a)).to(x.dtype)


@jit
def ceil(x):
    a = x.to(tl.float64)
    return (tl.ceil(a)).to(x.dtype)


@jit
def trunc(x):
    a = x.to(tl.float64)
    return (double.trunc(a)).to(x.dtype)


@jit
def rint(x):
    a = x.to(tl.float64)
    return (double.rint(a)).to(x.dtype)


@jit
def nearbyint(x):
    a = x.to(tl.float64)
    return (double.rint(a)).to(x.dtype)


@jit
def round(x):
    b = tl.abs(x)
    whole = tl.floor(b)
    return double.with_sign(tl.where(b - whole >= 0.5, whole + 1.0, whole), double.negative(x))


@jit
def abs(x):
    return tl.abs(x)


@jit
def fma(x, y, z):
    return tl.fma(x, y, z)


@jit
def fdim(x, y):
    d = x - y
    return tl.where(x <= y, 0.0, d)


@jit
def copysign(x, y):
    return double.with_sign(tl.abs(x), double.negative(y))


@jit
def signbit(x):
    return double.negative(x).to(tl.int32)


@jit
def isnan(x):
    return (x != x).to(tl.int32)  # noqa: PLR0124


@jit
def isinf(x):
    return (tl.abs(x) == float("inf")).to(tl.int32)


@jit
def finitef(x):
    return (tl.abs(x) < float("inf")).to(tl.int32)


@jit
def isfinited(x):
    return (tl.abs(x) < float("inf")).to(tl.int32)


@jit
def saturatef(x):
    return tl.where(x > 0.0, tl.where(x < 1.0, x, 1.0), 0.0)


@jit
def pow(x, y):
    a = x.to(tl.float64)
    b = y
    b = b.to(tl.float64)
    whole = tl.floor(b) == b
    y0 = tl.exp2(b * tl.log2(tl.abs(a)))
    odd = whole & (tl.abs(b % 2.0) == 1.0)
    signed = tl.where(
        (a < 0.0) & (tl.abs(a) < float("inf")) & (tl.abs(b) < float("inf")) & (whole == 0),
        float("nan"),
        y0,
    )
    signed = tl.where(odd & double.negative(a), -signed, signed)
    one = (b == 0.0) | (a == 1.0) | ((a == -1.0) & (tl.abs(b) == float("inf")))
    return tl.where(one, 1.0, signed).to(x.dtype)


@jit
def add_rn(x, y):
    return x + y


@jit
def sub_rn(x, y):
    return x - y


@jit
def mul_rn(x, y):
    return x * y


@jit
def div_rn(x, y):
    return x / y


@jit
def fast_dividef(x, y):
    return x / y


@jit
def rcp_rn(x):
    return 1.0 / x


@jit
def fma_rn(x, y, z):
    return tl.fma(x, y, z)


@jit
def float_as_int(x):
    return x.to(tl.int32, bitcast=True)


@jit
def int_as_float(x):
    return x.to(tl.float32, bitcast=True)


@jit
def float_as_uint(x):
    return x.to(tl.uint32, bitcast=True)


@jit
def uint_as_float(x):
    return x.to(tl.float32, bitcast=True)


@jit
def double_as_longlong(x):
    return x.to(tl.int64, bitcast=True)


@jit
def longlong_as_double(x):
    return x.to(tl.float64, bitcast=True)


sqrt_rn = sqrt
rsqrt_rn = rsqrt
fast_sinf = sin
fast_cosf = cos
fast_tanf = tan
fast_expf = exp
fast_exp10f = exp10
fast_logf = log
fast_log2f = log2
fast_log10f = log10
fast_powf = pow

# The other functions of libdevice.
_ABSENT = """
clz popc byte_perm mulhi mul24 brev sad rcp64h fma_rz fma_rd fma_ru div_rz div_rd div_ru rcp_rz rcp_rd rcp_ru
sqrt_rz sqrt_rd sqrt_ru add_rz add_rd add_ru mul_rz mul_rd mul_ru double2float_rn double2float_rz
double2float_rd double2float_ru double2int_rn double2int_rz double2int_rd double2int_ru double2uint_rn
double2uint_rz double2uint_rd double2uint_ru int2double_rn uint2double_rn float2int_rn float2int_rz float2int_rd
float2int_ru float2uint_rn float2uint_rz float2uint_rd float2uint_ru int2float_rn int2float_rz int2float_rd
int2float_ru uint2float_rn uint2float_rz uint2float_rd uint2float_ru hiloint2double double2loint double2hiint
float2ll_rn float2ll_rz float2ll_rd float2ll_ru float2ull_rn float2ull_rz float2ull_rd float2ull_ru double2ll_rn
double2ll_rz double2ll_rd double2ll_ru double2ull_rn double2ull_rz double2ull_rd double2ull_ru ll2float_rn
ll2float_rz ll2float_rd ll2float_ru ull2float_rn ull2float_rz ull2float_rd ull2float_ru ll2double_rn
ll2double_rz ll2double_rd ll2double_ru ull2double_rn ull2double_rz ull2double_rd ull2double_ru hadd rhadd sub_rz
sub_rd sub_ru ffs llrint nextafter norm3d rnorm3d norm4d rnorm4d j0 j1 y0 y1 yn jn cyl_bessel_i0 cyl_bessel_i1
erfinv erfc erfcx erfcinv normcdfinv normcdf lgamma ldexp scalbn fmod remainder tgamma llround ilogb logb
"""


def __getattr__(name: str) -> Callable[..., NoReturn]:
    """A function that raises, for those of libdevice that are not here."""
    if name not in _ABSENT.split():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def absent(*_args: Any, **_options: Any) -> NoReturn:
        raise NotImplementedError(
            f"libdevice.{name}: the stand-in has no such function; its libdevice has those that Triton's own "
            "operations can make. Run this kernel on a device that Triton has a compiler for"
        )

    return absent
