"""Triton's operators on single elements, for every type, against torch on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import triton
import triton.language as tl
from absl.testing import absltest, parameterized
from triton.language.extra import libdevice

BLOCK = 128
COUNT = 300

INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def samples(dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Numbers of a type, on the CPU, none of them 0."""
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        numbers = torch.randn(COUNT, generator=generator).to(dtype)
        return torch.where(numbers == 0, 1, numbers).to(dtype)
    return torch.randint(1, 100, (COUNT,), generator=generator, dtype=dtype)


@triton.jit
def _binary(x, y, out, count, OPERATOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x + i, mask=inside, other=1)
    b = tl.load(y + i, mask=inside, other=1)
    if OPERATOR == "add":
        c = a + b
    elif OPERATOR == "sub":
        c = a - b
    elif OPERATOR == "mul":
        c = a * b
    elif OPERATOR == "div":
        c = a / b
    elif OPERATOR == "maximum":
        c = tl.maximum(a, b)
    elif OPERATOR == "minimum":
        c = tl.minimum(a, b)
    elif OPERATOR == "and":
        c = a & b
    elif OPERATOR == "or":
        c = a | b
    elif OPERATOR == "xor":
        c = a ^ b
    elif OPERATOR == "where":
        c = tl.where(a < b, a, b)
    tl.store(out + i, c, mask=inside)


@triton.jit
def _unary(x, out, count, OPERATOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x + i, mask=inside, other=1.0)
    if OPERATOR == "exp":
        b = tl.exp(a)
    elif OPERATOR == "exp2":
        b = tl.exp2(a)
    elif OPERATOR == "log":
        b = tl.log(tl.abs(a))
    elif OPERATOR == "log2":
        b = tl.log2(tl.abs(a))
    elif OPERATOR == "sin":
        b = tl.sin(a)
    elif OPERATOR == "cos":
        b = tl.cos(a)
    elif OPERATOR == "sqrt":
        b = tl.sqrt(tl.abs(a))
    elif OPERATOR == "rsqrt":
        b = tl.rsqrt(tl.abs(a))
    elif OPERATOR == "erf":
        b = tl.erf(a)
    elif OPERATOR == "sigmoid":
        b = tl.sigmoid(a)
    elif OPERATOR == "floor":
        b = tl.floor(a)
    elif OPERATOR == "ceil":
        b = tl.ceil(a)
    elif OPERATOR == "abs":
        b = tl.abs(a)
    elif OPERATOR == "neg":
        b = -a
    tl.store(out + i, b, mask=inside)


@triton.jit
def _libdevice(x, out, count, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x + i, mask=inside, other=0.5)
    if FUNCTION == "acos":
        b = libdevice.acos(a)
    elif FUNCTION == "asin":
        b = libdevice.asin(a)
    elif FUNCTION == "atan":
        b = libdevice.atan(a)
    elif FUNCTION == "tan":
        b = libdevice.tan(a)
    elif FUNCTION == "sinh":
        b = libdevice.sinh(a)
    elif FUNCTION == "tanh":
        b = libdevice.tanh(a)
    elif FUNCTION == "erfinv":
        b = libdevice.erfinv(a)
    elif FUNCTION == "expm1":
        b = libdevice.expm1(a)
    elif FUNCTION == "log1p":
        b = libdevice.log1p(a)
    elif FUNCTION == "lgamma":
        b = libdevice.lgamma(a)
    elif FUNCTION == "rint":
        b = libdevice.rint(a)
    elif FUNCTION == "cbrt":
        b = libdevice.cbrt(a)
    elif FUNCTION == "j0":
        b = libdevice.j0(a)
    tl.store(out + i, b, mask=inside)


@triton.jit
def _convert(x, out, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    tl.store(out + i, tl.load(x + i, mask=inside).to(out.dtype.element_ty), mask=inside)


@triton.jit
def _numbers(out, seed, count, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if NAME == "rand":
        number = tl.rand(seed, i)
    elif NAME == "randn":
        number = tl.randn(seed, i)
    else:
        number = tl.randint(seed, i)
    tl.store(out + i, number, mask=i < count)


@triton.jit
def _assembly(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    reversed = tl.inline_asm_elementwise(
        "brev.b32 $0, $1;", "=r,r", [tl.load(x + i)], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out + i, reversed)


@triton.jit
def _saxpy(x, y, a, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    tl.store(
        y + i, tl.fma(tl.load(x + i, mask=inside), a, tl.load(y + i, mask=inside)), mask=inside
    )


GRID = (triton.cdiv(COUNT, BLOCK),)

_BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "where": torch.minimum,
}

_UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "exp": torch.exp,
    "exp2": torch.exp2,
    "log": lambda x: x.abs().log(),
    "log2": lambda x: x.abs().log2(),
    "sin": torch.sin,
    "cos": torch.cos,
    "sqrt": lambda x: x.abs().sqrt(),
    "rsqrt": lambda x: x.abs().rsqrt(),
    "erf": torch.erf,
    "sigmoid": torch.sigmoid,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "abs": torch.abs,
    "neg": torch.neg,
}

_LIBDEVICE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "acos": torch.acos,
    "asin": torch.asin,
    "atan": torch.atan,
    "tan": torch.tan,
    "sinh": torch.sinh,
    "tanh": torch.tanh,
    "erfinv": torch.erfinv,
    "expm1": torch.expm1,
    "log1p": torch.log1p,
    "lgamma": torch.lgamma,
    "rint": torch.round,
    "cbrt": lambda x: x.sign() * x.abs().pow(1 / 3),
    "j0": torch.special.bessel_j0,
}


class ElementwiseTest(parameterized.TestCase):
    @parameterized.parameters(
        *((name, dtype) for name in _BINARY for dtype in (*INTEGERS, *FLOATS)
          if not (name in ("and", "or", "xor") and dtype.is_floating_point)
          and not (name == "div" and not dtype.is_floating_point))
    )  # fmt: skip
    def test_two_operands(self, name: str, dtype: torch.dtype) -> None:
        x, y = samples(dtype), samples(dtype, 1)
        out = torch.empty(COUNT, dtype=dtype, device="cuda")
        _binary[GRID](x.cuda(), y.cuda(), out, COUNT, OPERATOR=name, BLOCK=BLOCK)
        expected = _BINARY[name](x, y)
        if name == "div":
            torch.testing.assert_close(out.cpu(), expected)
        else:
            self.assertTrue(torch.equal(out.cpu(), expected))

    @parameterized.parameters(
        *((name, dtype) for name in _UNARY for dtype in (torch.float32, torch.float64))
    )
    def test_one_operand(self, name: str, dtype: torch.dtype) -> None:
        x = samples(dtype)
        out = torch.empty(COUNT, dtype=dtype, device="cuda")
        _unary[GRID](x.cuda(), out, COUNT, OPERATOR=name, BLOCK=BLOCK)
        torch.testing.assert_close(out.cpu(), _UNARY[name](x))

    @parameterized.parameters(
        *((name, dtype) for name in _LIBDEVICE for dtype in (torch.float32, torch.float64))
    )
    def test_libdevice(self, name: str, dtype: torch.dtype) -> None:
        x = samples(dtype).clamp(-0.9, 0.9)
        out = torch.empty(COUNT, dtype=dtype, device="cuda")
        _libdevice[GRID](x.cuda(), out, COUNT, FUNCTION=name, BLOCK=BLOCK)
        torch.testing.assert_close(out.cpu(), _LIBDEVICE[name](x), rtol=1e-5, atol=1e-6)

    # Triton 3.2 itself ends the process where bfloat16 is made of a double.
    @parameterized.parameters(
        *(
            (source, target)
            for source in (*INTEGERS, *FLOATS)
            for target in (*INTEGERS, *FLOATS)
            if (source, target) != (torch.float64, torch.bfloat16)
        )
    )
    def test_conversions(self, source: torch.dtype, target: torch.dtype) -> None:
        x = samples(source).abs()
        out = torch.empty(COUNT, dtype=target, device="cuda")
        _convert[GRID](x.cuda(), out, COUNT, BLOCK=BLOCK)
        self.assertTrue(torch.equal(out.cpu(), x.to(target)))

    def test_random_numbers(self) -> None:
        out = torch.empty(4096, device="cuda")
        again = torch.empty(4096, device="cuda")
        grid = (4096 // BLOCK,)
        for each in (out, again):
            _numbers[grid](each, 5, 4096, NAME="rand", BLOCK=BLOCK)
        self.assertTrue(torch.equal(out, again))
        self.assertTrue(bool(((out >= 0) & (out < 1)).all()))
        self.assertAlmostEqual(out.mean().item(), 0.5, delta=0.03)
        _numbers[grid](out, 6, 4096, NAME="randn", BLOCK=BLOCK)
        self.assertAlmostEqual(out.mean().item(), 0, delta=0.06)
        self.assertAlmostEqual(out.std().item(), 1, delta=0.06)
        whole = torch.empty(4096, dtype=torch.int32, device="cuda")
        _numbers[grid](whole, 6, 4096, NAME="randint", BLOCK=BLOCK)
        self.assertGreater(whole.cpu().unique().numel(), 4090)

    def test_inline_assembly(self) -> None:
        x = torch.arange(BLOCK, dtype=torch.int32)
        out = torch.empty(BLOCK, dtype=torch.int32, device="cuda")
        _assembly[(1,)](x.cuda(), out, BLOCK=BLOCK)
        expected = [int(f"{number:032b}"[::-1], 2) for number in range(BLOCK)]
        self.assertEqual([number % 2**32 for number in out.tolist()], expected)

    def test_fused_multiply_add(self) -> None:
        x, y = samples(torch.float32), samples(torch.float32, 1)
        result = y.cuda()
        _saxpy[GRID](x.cuda(), result, math.pi, COUNT, BLOCK=BLOCK)
        exact = x.double() * torch.tensor(math.pi).double() + y.double()
        self.assertTrue(torch.equal(result.cpu(), exact.float()))


if __name__ == "__main__":
    absltest.main()
