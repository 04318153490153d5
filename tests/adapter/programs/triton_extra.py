"""Triton kernels that use CUDA's libdevice, under each name that programs have for it."""

import os

# The stand-in has no compiler for Triton.
os.environ.setdefault("TRITON_INTERPRET", "1")

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice

BLOCK = 128


@triton.jit
def gelu(x, out, count, BLOCK: tl.constexpr):
    """GELU in the form with tanh."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x + i, mask=inside)
    inner = 0.7978845608028654 * (a + 0.044715 * a * a * a)
    tl.store(out + i, 0.5 * a * (1.0 + tl.extra.cuda.libdevice.tanh(inner)), mask=inside)


@triton.jit
def distance(x, y, out, count, BLOCK: tl.constexpr):
    """Angle and length of points."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x + i, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(out + i, libdevice.atan2(a, b) + cuda_libdevice.hypot(a, b), mask=inside)


@triton.jit
def apply(x, out, count, function: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    tl.store(out + i, function(tl.load(x + i, mask=inside, other=1.0)), mask=inside)


@triton.jit
def apply_two(x, y, out, count, function: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x + i, mask=inside, other=1.0)
    b = tl.load(y + i, mask=inside, other=1.0)
    tl.store(out + i, function(a, b), mask=inside)


def launch(kernel, *tensors, **options):
    out = torch.empty_like(tensors[0])
    kernel[(triton.cdiv(len(out), BLOCK),)](*tensors, out, len(out), BLOCK=BLOCK, **options)
    assert out.is_cuda
    return out


def check(name, found, wanted):
    torch.testing.assert_close(found.cpu(), wanted, equal_nan=True, msg=lambda m: f"{name}: {m}")


EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    1e-6,
    -1e-6,
    1e-30,
    20.0,
    -20.0,
    1e20,
    -1e20,
]
EDGES += [float("inf"), float("-inf"), float("nan"), 0.49999997]
ONE = "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt tan sinh cosh tanh asin acos atan asinh acosh atanh"
ONE += " erf floor ceil trunc rint nearbyint abs sin cos"
TWO = "atan2 hypot pow copysign"
OWN = {"rint": "round", "nearbyint": "round"}


def main():
    for dtype in (torch.float32, torch.float64):
        numbers = torch.randn(300, generator=torch.Generator().manual_seed(0)).to(dtype) * 2
        numbers = torch.cat([numbers, torch.tensor(EDGES, dtype=dtype)])
        x = numbers.cuda()
        check(
            "gelu",
            launch(gelu, x[:300]),
            torch.nn.functional.gelu(numbers[:300], approximate="tanh"),
        )
        points = numbers[:300], numbers[:300].flip(0)
        found = launch(distance, *(part.contiguous().cuda() for part in points))
        check("distance", found, torch.atan2(*points) + torch.hypot(*points))
        for name in ONE.split():
            # Of large angles an angle's digits are few.
            some = numbers[numbers.abs() < 1e10] if name in ("sin", "cos", "tan") else numbers
            found = launch(apply, some.cuda(), function=getattr(libdevice, name))
            check(name, found, getattr(torch, OWN.get(name, name))(some))
        pairs = torch.cartesian_prod(numbers[280:], numbers[280:])
        for name in TWO.split():
            a, b = (side.contiguous() for side in pairs.unbind(1))
            found = launch(apply_two, a.cuda(), b.cuda(), function=getattr(libdevice, name))
            check(name, found, getattr(torch, name)(a, b))
        for name, wanted in (
            ("isnan", numbers.isnan()),
            ("isinf", numbers.isinf()),
            ("signbit", numbers.signbit()),
        ):
            found = launch(apply, x, function=getattr(libdevice, name))
            check(name, found != 0, wanted)
        cube = launch(apply, x, function=libdevice.cbrt)
        check("cbrt", cube**3, numbers)
        some = numbers[numbers.abs() < 1e10]
        away = some.abs().floor() + ((some.abs() - some.abs().floor()) >= 0.5)
        check("round", launch(apply, some.cuda(), function=libdevice.round), away.copysign(some))


main()
