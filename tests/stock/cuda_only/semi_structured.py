"""Matrices of which two of four numbers are zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from .pairs import ATEN, Check, Pair


def pruned(rows: int, k: int, dtype: torch.dtype) -> Tensor:
    """Two of four numbers in a row are zero; of float32 one of two."""
    size = 2 if dtype == torch.float32 else 4
    kept = torch.rand(rows, k // size, size).argsort(-1) < size // 2
    numbers = torch.randint(-9, 10, (rows, k)).to(dtype)
    return numbers * kept.view(rows, k).to(dtype)


def cutlass() -> Iterator[Pair]:
    """CUTLASS's semi-structured matrices, packed by the operator and by PyTorch's own Python."""
    from torch.sparse._semi_structured_conversions import (
        sparse_semi_structured_from_dense_cutlass,
        sparse_semi_structured_to_dense_cutlass,
    )

    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.int8):
        dense = pruned(64, 128, dtype)
        packed, meta = ATEN._to_sparse_semi_structured(dense.cuda())
        far = sparse_semi_structured_from_dense_cutlass(dense)
        yield packed, far[0]
        yield meta, far[1]
        yield sparse_semi_structured_to_dense_cutlass(packed, meta), dense
        other = torch.randint(-9, 10, (128, 8)).to(dtype)
        exact = torch.int32 if dtype == torch.int8 else torch.float32
        wanted = dense.to(exact) @ other.to(exact)
        named = {"out_dtype": torch.int32} if dtype == torch.int8 else {}
        to = exact if dtype == torch.int8 else dtype
        yield (
            ATEN._sparse_semi_structured_mm(packed, meta, other.cuda(), **named),
            wanted.to(to),
        )
        added = torch.randint(-9, 10, (64,)).to(dtype)
        yield (
            ATEN._sparse_semi_structured_addmm(
                added.cuda(), packed, meta, other.cuda(), alpha=2, beta=3, **named
            ),
            (2 * wanted + 3 * added.to(exact)[:, None]).to(to),
        )
        if dtype != torch.float32:
            yield (
                ATEN._sparse_semi_structured_linear(
                    other.t().contiguous().cuda(),
                    packed,
                    meta,
                    bias=added.cuda(),
                    activation="relu",
                    **named,
                ),
                (wanted.t() + added.to(exact)).relu().to(to),
            )


def cusparselt() -> Iterator[Pair]:
    """cuSPARSELt's, by its operators and by torch.sparse.to_sparse_semi_structured."""
    for dtype in (torch.float16, torch.bfloat16, torch.int8):
        dense = pruned(64, 64, dtype)
        other = torch.randint(-3, 4, (64, 16)).to(dtype)
        exact = torch.int32 if dtype == torch.int8 else torch.float32
        wanted = dense.to(exact) @ other.to(exact)
        compressed = ATEN._cslt_compress(dense.cuda())
        yield compressed.numel(), 64 * 64 * (10 if dtype == torch.int8 else 9) // 16
        named = {"out_dtype": torch.int32} if dtype == torch.int8 else {}
        to = torch.int32 if dtype == torch.int8 else dtype
        yield ATEN._cslt_sparse_mm(compressed, other.cuda(), **named), wanted.to(to)
        yield (
            ATEN._cslt_sparse_mm(compressed, other.cuda(), transpose_result=True, **named),
            wanted.t().to(to),
        )
        bias = torch.randint(-9, 10, (64,)).to(dtype)
        alpha = torch.tensor([2.0])
        yield (
            ATEN._cslt_sparse_mm(
                compressed, other.cuda(), bias=bias.cuda(), alpha=alpha.cuda(), **named
            ),
            (2 * wanted + bias.to(exact)[:, None]).to(to),
        )
        yield ATEN._cslt_sparse_mm_search(compressed, other.cuda()), 0
        if dtype == torch.int8:
            continue
        for kind in (
            torch.sparse.SparseSemiStructuredTensorCUTLASS,
            torch.sparse.SparseSemiStructuredTensorCUSPARSELT,
        ):
            tensor = kind.from_dense(dense.cuda())
            yield tensor.to_dense(), dense
            yield tensor @ other.cuda(), wanted.to(dtype)
            yield (
                F.linear(other.t().contiguous().cuda(), tensor, bias.cuda()),
                (wanted.t() + bias.float()).to(dtype),
            )
    try:
        ATEN._cslt_compress(torch.ones(16, 16).half().cuda())
    except RuntimeError as error:
        yield "two must be zero" in str(error), True
    else:
        yield "no error", "an error for a matrix that is not pruned"


CHECKS: dict[Check, Sequence[str]] = {
    cutlass: [
        "_to_sparse_semi_structured",
        "_sparse_semi_structured_mm",
        "_sparse_semi_structured_addmm",
        "_sparse_semi_structured_linear",
    ],
    cusparselt: ["_cslt_compress", "_cslt_sparse_mm", "_cslt_sparse_mm_search"],
}
