"""Products of matrices of half precision, and of weights of 4 and 8 bits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from .pairs import ATEN, Check, Pair


def products() -> Iterator[Pair]:
    """Of half precision, with results in single precision."""
    left, right = torch.randn(2, 4, 8).bfloat16(), torch.randn(2, 8, 6).bfloat16()
    added = torch.randn(2, 4, 6)
    near, far, sums = left.cuda(), right.cuda(), added.cuda()
    wanted = left.float() @ right.float()
    single = torch.float32

    def out() -> Tensor:
        return torch.empty(0, device="cuda")

    yield ATEN.mm.dtype(near[0], far[0], single), wanted[0]
    yield ATEN.mm.dtype_out(near[0], far[0], single, out=out()), wanted[0]
    yield ATEN.bmm.dtype(near, far, single), wanted
    yield ATEN.bmm.dtype_out(near, far, single, out=out()), wanted
    scaled = {"beta": 2, "alpha": 3}
    yield ATEN.addmm.dtype(sums[0], near[0], far[0], single, **scaled), (2 * added + 3 * wanted)[0]
    yield (
        ATEN.addmm.dtype_out(sums[0], near[0], far[0], single, out=out()),
        (added + wanted)[0],
    )
    yield ATEN.baddbmm.dtype(sums, near, far, single, **scaled), 2 * added + 3 * wanted
    yield ATEN.baddbmm.dtype_out(sums, near, far, single, out=out()), added + wanted


def int4() -> Iterator[Pair]:
    """Groups of 32 weights of 4 bits with a scale and a zero; the layout is a GPU's."""
    n, k, group = 16, 128, 32
    numbers = torch.randint(0, 16, (n, k), dtype=torch.int32)
    packed_pairs = (numbers[:, ::2] << 4 | numbers[:, 1::2]).to(torch.uint8)
    factors = torch.randn(k // group, n, 2).bfloat16()
    x = torch.randn(3, k).bfloat16()
    scale, zero = (factors[..., i].float().t().repeat_interleave(group, 1) for i in (0, 1))
    weight = (numbers - 8) * scale + zero
    for tiles in (2, 4, 8):
        packed = ATEN._convert_weight_to_int4pack(packed_pairs.cuda(), tiles)
        yield list(packed.shape), [n // 8, k // (tiles * 16), 32, tiles // 2]
        yield packed.dtype, torch.int32
        # The first number of the first thread: columns 0, 8, 16, 24, 1, 9, 17, 25.
        first = [int(numbers[0, i]) for i in (0, 8, 16, 24, 1, 9, 17, 25)]
        bits = int(packed[0, 0, 0, 0]) & 0xFFFFFFFF
        yield [bits >> shift & 15 for shift in range(0, 32, 4)], first
        found = ATEN._weight_int4pack_mm(x.cuda(), packed, group, factors.cuda())
        yield found.float(), (x.float() @ weight.t()).bfloat16().float()


def mixed_types() -> Iterator[Pair]:
    """Weights in the order of torch.quantization._quantized_conversions."""
    from torch.quantization._quantized_conversions import (
        pack_int4_to_int8,
        quantized_weight_reorder_for_mixed_dtypes_linear_cutlass,
    )

    for bits, activation, dtype in itertools.product(
        (4, 8), (None, "relu", "silu"), (torch.float16, torch.bfloat16)
    ):
        n, k = 64, 128
        most = 7 if bits == 4 else 127
        numbers = torch.randint(-most - 1, most + 1, (n, k), dtype=torch.int8)
        x, scale, bias = torch.randn(2, 3, k).to(dtype), torch.randn(n).to(dtype), torch.randn(n)
        given = pack_int4_to_int8(numbers.T) if bits == 4 else numbers.T
        weight = quantized_weight_reorder_for_mixed_dtypes_linear_cutlass(
            given.contiguous().cuda(), torch.quint4x2 if bits == 4 else torch.int8
        )
        wanted = x.float() @ (numbers.float() * scale.float()[:, None]).t() + bias.to(dtype).float()
        if activation:
            wanted = getattr(F, activation)(wanted)
        found = ATEN._mixed_dtypes_linear(
            x.cuda(), weight, scale.cuda(), bias=bias.to(dtype).cuda(), activation=activation
        )
        yield found.float(), wanted.to(dtype).float()


CHECKS: dict[Check, Sequence[str]] = {
    products: ["mm", "bmm", "addmm", "baddbmm"],
    int4: ["_convert_weight_to_int4pack", "_weight_int4pack_mm"],
    mixed_types: ["_mixed_dtypes_linear"],
}
