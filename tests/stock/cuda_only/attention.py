"""Attention."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from .pairs import ATEN, Check, Pair, cuda, grads, leaf


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The definition, of [batch, heads, length, size], and the logarithms of sums."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if bias is not None:
        scores = scores + bias
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def attention() -> Iterator[Pair]:
    """By the names of kernels, and their backward passes."""
    given = [leaf(2, 4, 6, 8) for _ in range(3)]
    wanted, sums = attend(*given)
    near = cuda([one.detach() for one in given])
    seed = torch.randn_like(wanted)
    derived = grads([wanted], given, [seed])
    flash = ATEN._scaled_dot_product_flash_attention(*near)
    yield flash[0], wanted
    yield flash[1], sums
    back = ATEN._scaled_dot_product_flash_attention_backward(
        seed.cuda(), *near, flash[0], flash[1], flash[2], flash[3], 6, 6, 0.0, False, *flash[6:8]
    )
    yield from zip(back, derived, strict=True)
    cudnn = ATEN._scaled_dot_product_cudnn_attention(*near, None, True)
    yield cudnn[0], wanted
    back = ATEN._scaled_dot_product_cudnn_attention_backward(
        seed.cuda(),
        *near,
        cudnn[0],
        cudnn[1],
        *cudnn[6:8],
        torch.zeros(2, 4, 6, 6, device="cuda"),  # nothing cannot be said in Python
        *(torch.empty(0, device="cuda") for _ in range(2)),
        6,
        6,
        0.0,
        False,
    )
    yield from zip(back, derived, strict=True)
    bias = leaf(2, 4, 6, 6)
    biased = attend(given[0], given[1], given[2], bias)[0]
    efficient = ATEN._scaled_dot_product_efficient_attention(*near, bias.detach().cuda(), True)
    yield efficient[0], biased
    back = ATEN._scaled_dot_product_efficient_attention_backward(
        seed.cuda(),
        *near,
        bias.detach().cuda(),
        *efficient[:2],
        *efficient[2:],
        0.0,
        [True] * 4,
    )
    yield from zip(back, grads([biased], [*given, bias], [seed]), strict=True)


def attention_of_lengths_first() -> Iterator[Pair]:
    """The kernels' own operators, of [batch, length, heads, size]."""
    given = [leaf(2, 6, 4, 8) for _ in range(3)]
    wanted = attend(*(one.transpose(1, 2) for one in given))[0].transpose(1, 2)
    near = cuda([one.detach() for one in given])
    seed = torch.randn_like(wanted)
    derived = grads([wanted], given, [seed])
    flash = ATEN._flash_attention_forward(*near, None, None, 6, 6, 0.0, False, False)
    yield flash[0], wanted
    none = torch.empty(0, device="cuda")
    back = ATEN._efficient_attention_forward(*near, None, None, None, 6, 6, 0.0, 0, True)
    yield back[0], wanted
    derivatives = ATEN._efficient_attention_backward(
        seed.cuda(),
        *near,
        None,
        back[0],
        None,
        None,
        6,
        6,
        back[1],
        0.0,
        back[2],
        back[3],
        0,
        False,
    )
    yield from zip(derivatives[:3], derived, strict=True)
    ends = torch.tensor([0, 6], dtype=torch.int32).cuda()
    one = [single.detach()[0].cuda() for single in given]
    sequences = ATEN._flash_attention_forward(*one, ends, ends, 6, 6, 0.0, False, False)
    yield sequences[0], wanted[0]
    flat = ATEN._flash_attention_backward(
        seed[0].cuda(),
        *one,
        sequences[0],
        sequences[1],
        ends,
        ends,
        6,
        6,
        0.0,
        False,
        none,
        none,
    )
    yield from zip(flat, (part[0] for part in derived), strict=True)


CHECKS: dict[Check, Sequence[str]] = {
    attention: [
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_backward",
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_cudnn_attention_backward",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_efficient_attention_backward",
    ],
    attention_of_lengths_first: [
        "_flash_attention_forward",
        "_flash_attention_backward",
        "_efficient_attention_forward",
        "_efficient_attention_backward",
    ],
}
