"""Sums, products and places in half precision, on CUDA and on the CPU, held against double precision.

    python3 -m tools.gpu.half_precision

Prints one line a program: the largest error of bfloat16 and float16 on each device, in parts of the largest number. A
CPU kernel that adds in half precision, or rounds a number to it, or computes places in it, where CUDA's kernel uses
single precision, gives wrong numbers on a device that the CPU serves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

_MANY = 5000
_TYPES = (torch.bfloat16, torch.float16)


class Numbers:
    """Makes the arguments of programs: the same numbers for all types and devices, exact in bfloat16.

    Args:
        dtype: of the floating-point tensors.
        device: of all tensors.
    """

    def __init__(self, dtype: torch.dtype, device: str) -> None:
        self._dtype = dtype
        self.device = device

    def full(self, value: float, *shape: int) -> Tensor:
        """A tensor of one value; without a shape, of many."""
        return torch.full(shape or (_MANY,), value, dtype=self._dtype, device=self.device)

    def random(self, *shape: int) -> Tensor:
        """Numbers between 0 and 1."""
        return self._exact(self._drawn(*shape))

    def points(self, dimensions: int) -> Tensor:
        """Points of an image, or of a volume, each coordinate between -1 and 1."""
        return self._exact(self._drawn(1, *[8] * dimensions, dimensions) * 1.75 - 0.875)

    def _drawn(self, *shape: int) -> Tensor:
        return torch.rand(*shape, generator=torch.Generator().manual_seed(0))

    def _exact(self, numbers: Tensor) -> Tensor:
        return numbers.bfloat16().to(self.device, self._dtype)

    def zeros(self) -> Tensor:
        """Many times the index 0."""
        return torch.zeros(_MANY, dtype=torch.int64, device=self.device)

    def counted(self, rows: int) -> Tensor:
        """Small integers in two columns."""
        return (torch.arange(rows * 2, device=self.device).view(rows, 2) % 7).to(self._dtype)

    def sparse(self, columns: int) -> Tensor:
        """Many ones in the first row: all in one column, or one in each."""
        column = torch.zeros(_MANY) if columns == 1 else torch.arange(_MANY)
        indices = torch.stack([torch.zeros(_MANY), column]).long().to(self.device)
        return torch.sparse_coo_tensor(indices, self.full(1), (2, columns))


_NEAR_ONE = 1.0078125  # the next number of bfloat16

RESULTS: dict[str, Callable[[Numbers], Tensor]] = {
    "index_put": lambda n: n.full(0, 3).index_put((n.zeros(),), n.full(1), accumulate=True),
    "put_": lambda n: n.full(0, 3).put_(n.zeros(), n.full(1), accumulate=True),
    "index_add": lambda n: n.full(0, 3).index_add(0, n.zeros(), n.full(1)),
    "index_add of rows": lambda n: n.full(0, 3, 2).index_add(0, n.zeros(), n.full(1, _MANY, 2)),
    "scatter_add": lambda n: n.full(0, 3).scatter_add(0, n.zeros(), n.full(1)),
    "index_reduce": lambda n: n.full(1, 3).index_reduce(
        0, n.zeros()[:900], n.full(_NEAR_ONE, 900), "prod"
    ),
    "segment_reduce": lambda n: torch.segment_reduce(
        n.full(1), "sum", lengths=torch.tensor([_MANY], device=n.device)
    ),
    "embedding_bag": lambda n: F.embedding_bag(n.zeros().view(1, -1), n.full(1, 3, 2), mode="sum"),
    "coalesce": lambda n: n.sparse(1).coalesce().to_dense(),
    "to_dense": lambda n: n.sparse(1).to_dense(),
    "sparse product": lambda n: torch.sparse.mm(n.sparse(_MANY), n.full(1, _MANY, 2)),
    "product of CSR": lambda n: n.sparse(_MANY).to_sparse_csr() @ n.full(1, _MANY, 2),
    "prod": lambda n: n.full(_NEAR_ONE, 900).prod(),
    "cumprod": lambda n: n.full(_NEAR_ONE, 900).cumprod(0)[-1],
    "cumsum": lambda n: n.full(1).cumsum(0)[-1],
    "logcumsumexp": lambda n: n.full(0).logcumsumexp(0)[-1],
    "logsumexp": lambda n: n.full(0).logsumexp(0),
    "sum": lambda n: n.full(1).sum(),
    "nansum": lambda n: n.full(1).nansum(),
    "mean": lambda n: n.full(1).mean(),
    "var": lambda n: n.counted(_MANY).var(),
    "norm": lambda n: n.full(1).norm(),
    "norm of 1": lambda n: n.full(1).norm(1),
    "norm of 3": lambda n: n.full(1).norm(3),
    "renorm": lambda n: n.full(1, 2, _MANY).renorm(1, 0, 1.0)[0, 0],
    "dot": lambda n: n.full(1).dot(n.full(1)),
    "einsum": lambda n: torch.einsum("i,i->", n.full(1), n.full(1)),
    "trace": lambda n: torch.diag(n.full(1, 2000)).trace(),
    "matrix_exp": lambda n: torch.matrix_exp(torch.diag(n.full(1, 3))),
    "cosine_similarity": lambda n: F.cosine_similarity(n.full(1), n.full(1), dim=0),
    "lp_pool1d": lambda n: F.lp_pool1d(n.full(1, 1, 1, _MANY), 1, _MANY),
    "fold": lambda n: F.fold(n.random(1, 81, 400), (20, 20), 9, padding=4),
    "conv_transpose1d": lambda n: F.conv_transpose1d(n.full(90, 1, 1, 5), n.full(-1, 1, 1, 2)),
    "nll_loss": lambda n: F.nll_loss(n.full(-1, _MANY, 2), n.zeros(), reduction="sum"),
    "cross_entropy": lambda n: F.cross_entropy(n.full(1, _MANY, 2), n.zeros(), reduction="sum"),
    "smooth_l1_loss": lambda n: F.smooth_l1_loss(n.full(1), n.full(3), reduction="sum"),
    "multi_margin_loss": lambda n: F.multi_margin_loss(
        n.full(1, _MANY, 2), n.zeros(), reduction="sum"
    ),
    "adaptive_avg_pool3d": lambda n: F.adaptive_avg_pool3d(n.full(60, 1, 1, 20, 20, 20), 2),
    "grid_sample": lambda n: F.grid_sample(n.random(1, 1, 9, 300), n.points(2)),
    "grid_sample of a volume": lambda n: F.grid_sample(n.random(1, 1, 3, 9, 300), n.points(3)),
    "nearest grid_sample": lambda n: F.grid_sample(
        n.random(1, 1, 9, 300), n.points(2), mode="nearest"
    ),
    "bicubic grid_sample": lambda n: F.grid_sample(
        n.random(1, 1, 9, 300), n.points(2), mode="bicubic"
    ),
    "fractional_max_pool2d": lambda n: F.fractional_max_pool2d(
        n.random(1, 1, 400, 400), 2, (190, 190), _random_samples=n.full(0.375, 1, 1, 2)
    ),
    "fractional_max_pool3d": lambda n: F.fractional_max_pool3d(
        n.random(1, 1, 300, 20, 20), 2, (190, 10, 10), _random_samples=n.full(0.375, 1, 1, 3)
    ),
    "difference to a number": lambda n: n.full(0.97265625) - 0.9737,
    "scaled sum": lambda n: torch.add(n.full(0.25), n.full(-0.75), alpha=0.3337),
    "scaled sum of lists": lambda n: torch._foreach_add(
        [n.full(0.25)], [n.full(-0.75)], alpha=0.3337
    )[0],
    "logit": lambda n: torch.logit(n.full(1), eps=1e-3),
}
"""Programs whose result is compared."""

GRADIENTS: dict[str, tuple[tuple[int, ...], Callable[[Tensor, Numbers], Tensor]]] = {
    "embedding": ((3, 2), lambda x, n: F.embedding(n.zeros(), x)),
    "index": ((3, 2), lambda x, n: x[n.zeros()]),
    "two indices": ((3, 2), lambda x, n: x[n.zeros(), n.zeros()]),
    "second index": ((2, 3), lambda x, n: x[:, n.zeros()]),
    "embedding_bag": ((3, 2), lambda x, n: F.embedding_bag(n.zeros().view(1, -1), x, mode="sum")),
    "gather": ((2,), lambda x, n: x.gather(0, n.zeros())),
    "index_select": ((2,), lambda x, n: x.index_select(0, n.zeros())),
    "take": ((2,), lambda x, n: x.take(n.zeros())),
    "expand": ((2,), lambda x, n: x.expand(_MANY, 2)),
    "repeat_interleave": ((2,), lambda x, n: x.repeat_interleave(_MANY)),
    "Tensor.unfold": ((2000,), lambda x, n: x.unfold(0, 500, 1)),
    "unfold": ((1, 1, 20, 20), lambda x, n: F.unfold(x, 9, padding=4) * n.random(81, 1)),
    "avg_pool1d": ((1, 1, 300), lambda x, n: F.avg_pool1d(x, 99, 1)),
    "avg_pool2d": ((1, 1, 20, 20), lambda x, n: F.avg_pool2d(x, 9, 1, 4)),
    "avg_pool3d": ((1, 1, 9, 9, 9), lambda x, n: F.avg_pool3d(x, 5, 1, 2)),
    "max_pool2d": ((1, 1, 40, 40), lambda x, n: F.max_pool2d(x, 9, 1, 4)),
    "adaptive_avg_pool2d": ((1, 1, 3, 3), lambda x, n: F.adaptive_avg_pool2d(x, (37, 37))),
    "grid_sample": (
        (1, 1, 3, 3),
        lambda x, n: F.grid_sample(x, n.full(0, 1, 70, 70, 2), align_corners=True),
    ),
    "replication padding": ((1, 1, 4), lambda x, n: F.pad(x, (1000, 1000), mode="replicate")),
    "nearest interpolation": ((1, 1, 2, 2), lambda x, n: F.interpolate(x, scale_factor=60)),
    "bilinear interpolation": (
        (1, 1, 2, 2),
        lambda x, n: F.interpolate(x, scale_factor=60, mode="bilinear"),
    ),
    "bicubic interpolation": (
        (1, 1, 2, 2),
        lambda x, n: F.interpolate(x, scale_factor=60, mode="bicubic"),
    ),
    "bias of linear": ((2,), lambda x, n: F.linear(n.full(1, _MANY, 2), n.full(1, 2, 2), x)),
    "bias of conv2d": (
        (2,),
        lambda x, n: F.conv2d(n.full(1, 5, 1, 32, 32), n.full(1, 2, 1, 1, 1), x),
    ),
    "weight of layer_norm": ((2,), lambda x, n: F.layer_norm(n.counted(_MANY), (2,), x)),
    "weight of prelu": ((1,), lambda x, n: F.prelu(n.full(-1, _MANY, 1), x)),
    "cdist": ((2, 4), lambda x, n: torch.cdist(x, n.full(2, _MANY, 4))),
    "softmax": ((_MANY,), lambda x, n: F.softmax(x, 0) * n.counted(_MANY)[:, 0]),
}
"""Programs of a tensor of a shape, the gradient of whose sum is compared."""


def _gradient(shape: tuple[int, ...], work: Callable[[Tensor, Numbers], Tensor]) -> Any:
    def compute(numbers: Numbers) -> Tensor:
        given = numbers.random(*shape).requires_grad_()
        (found,) = torch.autograd.grad(work(given, numbers).sum(dtype=torch.float64), given)
        return found

    return compute


def error(work: Callable[[Numbers], Tensor], dtype: torch.dtype, device: str) -> str:
    """The largest error of a program, in parts of the largest number, or why there is none.

    Args:
        work: the program.
        dtype: in which it computes.
        device: on which it computes.
    """
    exact = work(Numbers(torch.float64, "cpu"))
    try:
        found = work(Numbers(dtype, device)).cpu().double()
    except RuntimeError as failure:
        return str(failure).partition("\n")[0][:60]
    return f"{((found - exact).abs().max() / exact.abs().max()).item():.4f}"


def main() -> None:
    """Prints the table."""
    warnings.simplefilter("ignore")
    programs = RESULTS | {
        f"gradient of {name}": _gradient(*program) for name, program in GRADIENTS.items()
    }
    devices = ("cuda", "cpu")
    print("program |", " | ".join(f"{device} {dtype}" for dtype in _TYPES for device in devices))
    for name, work in programs.items():
        errors = [error(work, dtype, device) for dtype in _TYPES for device in devices]
        print(name, "|", " | ".join(errors), flush=True)


if __name__ == "__main__":
    main()
