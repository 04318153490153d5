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
    """Lengths of points, and their cube roots."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x + i, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(out + i, libdevice.cbrt(cuda_libdevice.hypot(a, b)), mask=inside)


def launch(kernel, *tensors):
    out = torch.empty_like(tensors[0])
    kernel[(triton.cdiv(len(out), BLOCK),)](*tensors, out, len(out), BLOCK=BLOCK)
    assert out.is_cuda
    return out


def check(name, found, wanted):
    torch.testing.assert_close(found.cpu(), wanted, msg=lambda m: f"{name}: {m}")


def main():
    for dtype in (torch.float32, torch.float64):
        numbers = torch.randn(300, generator=torch.Generator().manual_seed(0)).to(dtype) * 2
        found = launch(gelu, numbers.cuda())
        check("gelu", found, torch.nn.functional.gelu(numbers, approximate="tanh"))
        points = numbers, numbers.flip(0)
        found = launch(distance, *(part.contiguous().cuda() for part in points))
        check("distance", found, torch.hypot(*points).pow(1 / 3))


main()
