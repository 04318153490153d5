"""Products of scaled matrices of 8 bits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from .pairs import ATEN, Check, Pair, cuda


def scaled_groups() -> Iterator[Pair]:
    """Groups of rows, of columns, of what is summed up, and batches."""
    eight = torch.float8_e4m3fn
    ends = torch.tensor([16, 16, 48], dtype=torch.int32)

    def check(
        left: Tensor, right: Tensor, sa: Tensor, sb: Tensor, wanted: Tensor
    ) -> Iterator[Pair]:
        offs = None if left.dim() == right.dim() == 3 else ends.cuda()
        given = left.cuda(), right.mT.contiguous().mT.cuda()
        found = ATEN._scaled_grouped_mm(*given, sa.cuda(), sb.cuda(), offs)
        yield found.dtype, torch.bfloat16
        yield found.float(), wanted.bfloat16().float()
        if hasattr(ATEN, "_scaled_grouped_mm_v2"):
            by_rows = [cuda([sa]), [1], [0], cuda([sb]), [1], [0], offs]
            found = ATEN._scaled_grouped_mm_v2(*given, *by_rows)
            yield found.float(), wanted.bfloat16().float()

    def numbers(*shape: int) -> Tensor:
        return torch.randn(*shape).to(eight)

    parts = list(itertools.pairwise([0, *ends.tolist()]))
    left, right, sa, sb = numbers(48, 32), numbers(3, 32, 16), torch.rand(48), torch.rand(3, 16)
    wanted = torch.cat(
        [
            (left[i:j].float() @ right[g].float()) * sa[i:j, None] * sb[g]
            for g, (i, j) in enumerate(parts)
        ]
    )
    yield from check(left, right, sa, sb, wanted)
    left, right, sa, sb = numbers(3, 16, 32), numbers(32, 48), torch.rand(3, 16), torch.rand(48)
    wanted = torch.cat(
        [
            (left[g].float() @ right[:, i:j].float()) * sa[g, :, None] * sb[i:j]
            for g, (i, j) in enumerate(parts)
        ],
        1,
    )
    yield from check(left, right, sa, sb, wanted)
    left, right, sa, sb = numbers(16, 48), numbers(48, 16), torch.rand(48), torch.rand(48)
    wanted = torch.stack(
        [
            (left[:, i:j].float() @ right[i:j].float())
            * sa[16 * g : 16 * g + 16, None]
            * sb[16 * g : 16 * g + 16]
            for g, (i, j) in enumerate(parts)
        ]
    )
    yield from check(left, right, sa, sb, wanted)
    left, right, sa, sb = (
        numbers(3, 16, 32),
        numbers(3, 32, 16),
        torch.rand(3, 16),
        torch.rand(3, 16),
    )
    wanted = (left.float() @ right.float()) * sa[..., None] * sb[:, None]
    yield from check(left, right, sa, sb, wanted)


def scaled_sums() -> Iterator[Pair]:
    """A scaled product that something is added to, in its three forms."""
    left, right = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(32, 16)
    right = right.t().contiguous().t().to(torch.float8_e4m3fn)
    sa, sb, added = torch.rand(16, 1), torch.rand(1, 16), torch.randn(16, 16)
    wanted = 0.5 * added + 2 * ((left.float() * sa) @ (right.float() * sb))
    given = [left.cuda(), right.cuda(), cuda([sa]), [1], [0], cuda([sb]), [1], [0]]
    named = {"beta": 0.5, "alpha": 2}
    yield ATEN._scaled_addmm(added.cuda(), *given, **named), wanted
    out = torch.empty(16, 16, device="cuda")
    yield ATEN._scaled_addmm.out(added.cuda(), *given, **named, out=out), wanted
    yield ATEN._scaled_addmm_(added.cuda(), *given, **named), wanted


CHECKS: dict[Check, Sequence[str]] = {
    scaled_groups: ["_scaled_grouped_mm", "_scaled_grouped_mm_v2"],
    scaled_sums: ["_scaled_addmm"],
}
