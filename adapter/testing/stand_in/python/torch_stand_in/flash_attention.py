"""FlashAttention for the stand-in, under the names of FlashAttention 3's interface, by PyTorch's operators.

Tensors are [batch, rows, heads, width]. Heads of keys and values may be fewer: each then serves as many of the
queries'. The last rows of queries and keys belong together where a mask is causal.
"""

from __future__ import annotations

import math

import torch


def flash_attn_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    return_softmax_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention.

    Args:
        q: queries.
        k: keys.
        v: values.
        softmax_scale: of the scores; one by the root of the width without.
        causal: whether a row sees those up to its own.
        window_size: how many rows before and after its own a row sees; negative: all.
        return_softmax_lse: whether the log-sum-exp of the scores is returned too, [batch, heads, rows] in float32.

    Raises:
        ValueError: the tensors do not fit each other.
    """
    if q.dim() != 4 or k.dim() != 4 or v.shape[:3] != k.shape[:3] or q.shape[2] % k.shape[2]:
        raise ValueError(
            "flash_attn_func needs [batch, rows, heads, width], and heads of q that are a multiple of k's: "
            f"found {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}"
        )
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    groups = q.shape[2] // k.shape[2]
    queries = q.transpose(1, 2).to(wide)
    keys, values = (x.transpose(1, 2).to(wide).repeat_interleave(groups, dim=1) for x in (k, v))
    scale = 1 / math.sqrt(q.shape[-1]) if softmax_scale is None else softmax_scale
    scores = queries @ keys.transpose(-1, -2) * scale
    scores = scores.masked_fill(_hidden(q, k, causal, window_size), -math.inf)
    lse = scores.logsumexp(-1)
    # A row that sees nothing is zero.
    weights = (scores - lse.unsqueeze(-1)).exp().nan_to_num(nan=0.0)
    result = (weights @ values).transpose(1, 2).to(q.dtype)
    return (result, lse.float()) if return_softmax_lse else result


def flash_attn_varlen_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    return_softmax_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention in sequences that lie one after the other: [rows, heads, width].

    Args:
        q: queries.
        k: keys.
        v: values.
        cu_seqlens_q: where the sequences of q begin, and the end of the last.
        cu_seqlens_k: the same of k and v.
        max_seqlen_q: the rows of the longest; not needed here.
        max_seqlen_k: the same of k and v.
        softmax_scale: as above, and so are the others.
        causal: see above.
        window_size: see above.
        return_softmax_lse: whether the log-sum-exp is returned too, [heads, rows].
    """
    starts_q, starts_k = cu_seqlens_q.tolist(), cu_seqlens_k.tolist()
    results, sums = [], []
    for i in range(len(starts_q) - 1):
        rows, others = slice(*starts_q[i : i + 2]), slice(*starts_k[i : i + 2])
        result, lse = flash_attn_func(
            q[None, rows],
            k[None, others],
            v[None, others],
            softmax_scale,
            causal,
            window_size,
            return_softmax_lse=True,
        )
        results.append(result[0])
        sums.append(lse[0])
    joined = torch.cat(results)
    return (joined, torch.cat(sums, dim=-1)) if return_softmax_lse else joined


def _hidden(
    q: torch.Tensor, k: torch.Tensor, causal: bool, window_size: tuple[int, int]
) -> torch.Tensor:
    """Which keys a row of queries does not see: [rows of q, rows of k]."""
    own = torch.arange(q.shape[1], device=q.device)[:, None] + k.shape[1] - q.shape[1]
    other = torch.arange(k.shape[1], device=q.device)[None, :]
    before, after = window_size[0], 0 if causal else window_size[1]
    hidden = torch.zeros(q.shape[1], k.shape[1], dtype=torch.bool, device=q.device)
    if after >= 0:
        hidden = hidden | (other > own + after)
    if before >= 0:
        hidden = hidden | (other < own - before)
    return hidden
