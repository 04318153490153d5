"""Normalization and dropout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F

from .pairs import ATEN, Check, Pair, cuda, grads, leaf


def batch_norm() -> Iterator[Pair]:
    """cuDNN's, and its backward pass."""
    x, w, b = leaf(3, 4, 5, 5), leaf(4), leaf(4)
    mean, var = torch.zeros(4), torch.ones(4)
    near_mean, near_var = mean.cuda(), var.cuda()
    wanted = F.batch_norm(x, mean, var, w, b, True, 0.1, 1e-5)
    given = cuda([x.detach(), w.detach(), b.detach()])
    found = ATEN.cudnn_batch_norm(*given, near_mean, near_var, True, 0.1, 1e-5)
    yield found[0], wanted
    yield near_mean, mean
    yield near_var, var
    out = [torch.empty(0, device="cuda") for _ in range(3)]
    reserve = torch.empty(0, dtype=torch.uint8, device="cuda")
    ATEN.cudnn_batch_norm.out(
        *given, None, None, True, 0.1, 1e-5, out0=out[0], out1=out[1], out2=out[2], out3=reserve
    )
    yield out[0], wanted
    seed = torch.randn_like(wanted)
    back = ATEN.cudnn_batch_norm_backward(
        given[0], seed.cuda(), given[1], None, None, found[1], found[2], 1e-5, found[3]
    )
    yield from zip(back, grads([wanted], [x, w, b], [seed]), strict=True)


def synchronized_batch_norm() -> Iterator[Pair]:
    """Of parts of a batch: statistics, what is gathered, and both passes."""
    x, w, b = leaf(6, 4, 3), leaf(4), leaf(4)
    running_mean, running_var = torch.zeros(4), torch.ones(4)
    wanted = F.batch_norm(x, running_mean, running_var, w, b, True, 0.1, 1e-5)
    near = cuda([x.detach(), w.detach(), b.detach()])
    parts = near[0].split([2, 4])
    stats = [ATEN.batch_norm_stats(part, 1e-5) for part in parts]
    flat = x.detach().transpose(0, 1)
    yield ATEN.batch_norm_stats(near[0], 1e-5)[0], flat.reshape(4, -1).mean(1)
    means, invstds = (torch.stack([one[i] for one in stats]) for i in (0, 1))
    counts = torch.tensor([6.0, 12.0], device="cuda")
    near_mean, near_var = torch.zeros(4).cuda(), torch.ones(4).cuda()
    mean, invstd = ATEN.batch_norm_gather_stats_with_counts(
        near[0], means, invstds, near_mean, near_var, 0.1, 1e-5, counts
    )
    yield near_mean, running_mean
    yield near_var, running_var
    yield ATEN.batch_norm_elemt(*near, mean, invstd, 1e-5), wanted
    out = torch.empty(0, device="cuda")
    yield ATEN.batch_norm_elemt.out(*near, mean, invstd, 1e-5, out=out), wanted
    halves = near[0].split(3)
    stats = [ATEN.batch_norm_stats(half, 1e-5) for half in halves]
    even = ATEN.batch_norm_gather_stats(
        near[0],
        torch.stack([one[0] for one in stats]),
        torch.stack([one[1] for one in stats]),
        None,
        None,
        0.1,
        1e-5,
        9,
    )
    yield even[0], mean
    yield even[1], invstd
    seed = torch.randn_like(wanted)
    sums = ATEN.batch_norm_backward_reduce(
        seed.cuda(), near[0], mean, invstd, near[1], True, True, True
    )
    dx, dw, db = grads([wanted], [x, w, b], [seed])
    yield sums[2], dw
    yield sums[3], db
    count = torch.tensor([18], dtype=torch.int32, device="cuda")
    yield (
        ATEN.batch_norm_backward_elemt(
            seed.cuda(), near[0], mean, invstd, near[1], sums[0], sums[1], count
        ),
        dx,
    )


def rms_norm_backward() -> Iterator[Pair]:
    """Of the definition."""
    x, w = leaf(3, 8), leaf(8)
    rstd = (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    wanted = x * rstd * w
    seed = torch.randn(3, 8)
    found = ATEN._fused_rms_norm_backward(
        seed.cuda(), x.detach().cuda(), [8], rstd.detach().cuda(), w.detach().cuda(), [True, True]
    )
    yield from zip(found, grads([wanted], [x, w], [seed]), strict=True)


def fused_dropout() -> Iterator[Pair]:
    """What is kept is scaled, and a mask tells what is kept."""
    x = torch.randn(2000)
    found, mask = ATEN._fused_dropout(x.cuda(), 0.75)
    kept = mask.cpu().float()
    yield found, x * kept / 0.75
    yield (kept.mean() - 0.75).abs() < 0.05, torch.tensor(True)
    yield ATEN._masked_scale(x.cuda(), mask, 2.0), x * kept * 2


CHECKS: dict[Check, Sequence[str]] = {
    batch_norm: ["cudnn_batch_norm", "cudnn_batch_norm_backward"],
    synchronized_batch_norm: [
        "batch_norm_stats",
        "batch_norm_elemt",
        "batch_norm_gather_stats",
        "batch_norm_gather_stats_with_counts",
        "batch_norm_backward_reduce",
        "batch_norm_backward_elemt",
    ],
    rms_norm_backward: ["_fused_rms_norm_backward"],
    fused_dropout: ["_fused_dropout", "_masked_scale"],
}
