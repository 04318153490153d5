"""Calls of operators whose CUDA kernels ask whether a program wants determinism, and of others like them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import torch

_SAYS = re.compile(r"(?:^|: )(.*?) does not have a deterministic implementation", re.DOTALL)
_aten = torch.ops.aten


def _numbers(*sizes: int) -> torch.Tensor:
    return torch.arange(1.0, 1 + torch.Size(sizes).numel()).view(sizes)


def _pools(c: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, Callable[[], object]]:
    image, volume = c(_numbers(1, 2, 4, 4)), c(_numbers(1, 2, 4, 4, 4))
    small, little = c(_numbers(1, 2, 2, 2)), c(_numbers(1, 2, 2, 2, 2))
    places, there = c(torch.zeros(1, 2, 2, 2).long()), c(torch.zeros(1, 2, 2, 2, 2).long())
    grad_input = c(torch.empty(1, 2, 4, 4, 4))
    pool3d = (little, volume, [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], False, there)
    return {
        "adaptive_avg_pool2d": lambda: _aten._adaptive_avg_pool2d_backward(small, image),
        "adaptive_avg_pool3d": lambda: _aten._adaptive_avg_pool3d_backward(little, volume),
        "adaptive_avg_pool3d out": lambda: _aten.adaptive_avg_pool3d_backward.grad_input(
            little, volume, grad_input=grad_input
        ),
        "adaptive_max_pool2d": lambda: _aten.adaptive_max_pool2d_backward(small, image, places),
        "adaptive_max_pool3d": lambda: _aten.adaptive_max_pool3d_backward(little, volume, there),
        "avg_pool2d": lambda: _aten.avg_pool2d_backward(
            small, image, [2, 2], [2, 2], [0, 0], False, True, None
        ),
        "avg_pool3d": lambda: _aten.avg_pool3d_backward(
            little, volume, [2, 2, 2], [2, 2, 2], [0, 0, 0], False, True, None
        ),
        "max_pool2d": lambda: _aten.max_pool2d_with_indices_backward(
            small, image, [2, 2], [2, 2], [0, 0], [1, 1], False, places
        ),
        "max_pool3d": lambda: _aten.max_pool3d_with_indices_backward(*pool3d),
        "max_pool3d out": lambda: _aten.max_pool3d_with_indices_backward.grad_input(
            *pool3d, grad_input=grad_input
        ),
        "fractional_max_pool2d": lambda: _aten.fractional_max_pool2d_backward(
            small, image, [2, 2], [2, 2], places
        ),
        "fractional_max_pool3d": lambda: _aten.fractional_max_pool3d_backward(
            little, volume, [2, 2, 2], [2, 2, 2], there
        ),
        "fractional_max_pool3d out": lambda: _aten.fractional_max_pool3d_backward.grad_input(
            little, volume, [2, 2, 2], [2, 2, 2], there, grad_input=grad_input
        ),
        "max_unpool2d": lambda: _aten.max_unpool2d(small, places, [4, 4]),
        "max_unpool3d": lambda: _aten.max_unpool3d(little, there, [4, 4, 4], [2, 2, 2], [0, 0, 0]),
    }


def _pads(c: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[tuple[str, Callable[[], object]]]:
    for kind in ("reflection", "replication"):
        for n in (1, 2, 3):
            given = c(_numbers(1, 2, *[4] * n))
            gradient = c(_numbers(1, 2, *[6] * n))
            backward = getattr(_aten, f"{kind}_pad{n}d_backward")
            call = partial(backward, gradient, given, [1] * (2 * n))
            out = c(torch.empty_like(given, device="cpu"))
            yield f"{kind}_pad{n}d", call
            yield (
                f"{kind}_pad{n}d out",
                partial(backward.grad_input, *call.args, grad_input=out),
            )


def _interpolations(
    c: Callable[[torch.Tensor], torch.Tensor],
) -> Iterator[tuple[str, Callable[[], object]]]:
    for name, n, corners in [
        ("upsample_linear1d", 1, [False]),
        ("upsample_bilinear2d", 2, [False]),
        ("_upsample_bilinear2d_aa", 2, [False]),
        ("upsample_bicubic2d", 2, [False]),
        ("_upsample_bicubic2d_aa", 2, [False]),
        ("upsample_trilinear3d", 3, [False]),
        ("upsample_nearest1d", 1, []),
        ("upsample_nearest2d", 2, []),
        ("upsample_nearest3d", 3, []),
    ]:
        gradient = c(_numbers(1, 1, *[4] * n))
        backward = getattr(_aten, f"{name}_backward")
        yield name, partial(backward, gradient, [4] * n, [1, 1] + [2] * n, *corners)


def _scatters(
    c: Callable[[torch.Tensor], torch.Tensor],
) -> Iterator[tuple[str, Callable[[], object]]]:
    places = c(torch.tensor([[0, 1, 1], [0, 0, 2]]))
    where, few = places[0], places[0][:2]
    for kind in (torch.float32, torch.complex64, torch.int64, torch.bool):
        to, by = c(torch.zeros(3, 3, dtype=kind)), c(torch.ones(2, 3, dtype=kind))
        calls: dict[str, Callable[[], object]] = {
            "scatter": partial(to.scatter, 0, places, by),
            "scatter_": partial(to.clone().scatter_, 0, places, by),
            "scatter of a row": partial(to[0].scatter, 0, where, by[0]),
            "scatter a number": partial(to.scatter, 0, places, 1),
            "scatter_add": partial(to.scatter_add, 0, places, by),
            "scatter_reduce nothing": partial(to.scatter_reduce, 0, places[:0], by, "prod"),
            "index_add": partial(to.index_add, 0, few, by),
            "index_copy": partial(to.index_copy, 0, few, by),
        }
        for reduce in ("add", "multiply"):
            calls[f"scatter {reduce}"] = partial(to.scatter, 0, places, by, reduce=reduce)
            calls[f"scatter {reduce} a number"] = partial(to.scatter, 0, places, 1, reduce=reduce)
        for reduce in ("sum", "prod", "mean", "amax", "amin"):
            calls[f"scatter_reduce {reduce}"] = partial(to.scatter_reduce, 0, places, by, reduce)
            if reduce != "sum":  # which it does not take
                calls[f"index_reduce {reduce}"] = partial(to.index_reduce, 0, few, by, reduce)
        for accumulate in (False, True):
            name = f"accumulate={accumulate}"
            calls[f"put {name}"] = partial(to.put, places, by, accumulate)
            calls[f"index_put {name}"] = partial(to.index_put, (few,), by, accumulate)
        for name, call in calls.items():
            yield f"{name} {str(kind).removeprefix('torch.')}", call


def _others(c: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, Callable[[], object]]:
    numbers, whole = c(_numbers(3, 4)), c(_numbers(3, 4).long())
    doubles = c(_numbers(3, 4).double())
    counts, weights = c(torch.tensor([0, 1, 1, 3])), c(_numbers(4))
    image, grid = c(_numbers(1, 1, 4, 4)), c(torch.zeros(1, 2, 2, 2))
    gradient = c(torch.ones(1, 1, 2, 2))
    volume, places = c(_numbers(1, 1, 3, 3, 3)), c(torch.zeros(1, 2, 2, 2, 3))
    scores, target = c(_numbers(1, 3, 2, 2)), c(torch.ones(1, 2, 2).long())
    rows, row_of = c(_numbers(4, 3)), c(torch.tensor([0, 1, 2, 1]))
    paths = c(torch.log_softmax(_numbers(4, 1, 3), 2))
    label, loss = c(torch.tensor([[1, 2]])), c(torch.ones(1))
    alpha = c(torch.zeros(1, 4, 5))
    bags, bag_of, of_bag = (c(torch.tensor(t)) for t in ([2, 2], [0, 0, 1, 1], [[0] * 3, [1] * 3]))
    of_bags = c(_numbers(2, 3))

    def bag(mode: int) -> object:
        return _aten._embedding_bag_dense_backward(
            of_bags, row_of, bag_of, bags, of_bag, 4, False, mode, None
        )

    return {
        "histc": lambda: torch.histc(numbers, 4),
        "histc of float64": lambda: torch.histc(doubles, 4),
        "histc of integers": lambda: torch.histc(whole, 4),
        "bincount": lambda: torch.bincount(counts),
        "bincount weighted": lambda: torch.bincount(counts, weights),
        "kthvalue": lambda: torch.kthvalue(numbers, 2),
        "median": lambda: numbers.median(),
        "median with indices": lambda: numbers.median(0),
        "median with indices of integers": lambda: whole.median(0),
        "nanmedian": lambda: numbers.nanmedian(),
        "nanmedian with indices": lambda: numbers.nanmedian(0),
        "mode": lambda: numbers.mode(0),
        "cumsum": lambda: numbers.cumsum(0),
        "cumsum of a row": lambda: numbers[0].cumsum(0),
        "cumsum of integers": lambda: whole.cumsum(0),
        "nll_loss": lambda: _aten.nll_loss_forward(rows, row_of[:3].repeat(2)[:4], None, 1, -100),
        "nll_loss2d": lambda: _aten.nll_loss2d_forward(scores, target, None, 1, -100),
        "nll_loss2d sum": lambda: _aten.nll_loss2d_forward(scores, target, None, 2, -100),
        "nll_loss2d none": lambda: _aten.nll_loss2d_forward(scores, target, None, 0, -100),
        "grid_sampler_2d": lambda: _aten.grid_sampler_2d_backward(
            gradient, image, grid, 0, 0, False, [True, True]
        ),
        "grid_sampler_3d": lambda: _aten.grid_sampler_3d_backward(
            places[:, None, :, :, :, 0], volume, places, 0, 0, False, [True, True]
        ),
        "cudnn_grid_sampler": lambda: _aten.cudnn_grid_sampler_backward(image, grid, gradient),
        "embedding": lambda: _aten.embedding_dense_backward(rows, row_of, 4, -1, False),
        "embedding_bag sum": lambda: bag(0),
        "embedding_bag mean": lambda: bag(1),
        "embedding_bag max": lambda: bag(2),
        "ctc_loss": lambda: _aten._ctc_loss_backward(
            loss, paths, label, [4], [2], loss, alpha, 0, False
        ),
        "index_select": lambda: _aten.index_select_backward(of_bags, [4, 3], 0, bags - 1),
        "repeat_interleave": lambda: torch.repeat_interleave(bags),
        "take": lambda: _aten.take(numbers, bags),
        "masked_scatter": lambda: numbers.masked_scatter(numbers > 3, numbers),
        "unique": lambda: torch.unique(whole),
        "sort": lambda: numbers.sort(0),
        "a product": lambda: numbers @ numbers.t(),
        "products": lambda: numbers[None] @ numbers.t()[None],
        "a product and a sum": lambda: torch.addmm(rows[:3, :3], numbers, numbers.t()),
        "a product with a vector": lambda: numbers @ weights,
        "a product of vectors": lambda: weights @ weights,
        "a product without numbers": lambda: numbers[:0] @ numbers.t(),
    }


def cases(device: str) -> dict[str, Callable[[], object]]:
    """The calls by name, for tensors of a device.

    Args:
        device: such as "cuda:0".
    """

    def there(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(device)

    return {
        **_pools(there),
        **dict(_pads(there)),
        **dict(_interpolations(there)),
        **dict(_scatters(there)),
        **_others(there),
    }


def said(call: Callable[[], object]) -> str:
    """Who says that it is not deterministic, an error or a warning; "" where nobody does.

    Args:
        call: of an operator. Other errors count for nothing: without a GPU PyTorch's own kernels end in one.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except RuntimeError as error:
            found = _SAYS.search(str(error))
            if found:
                return found[1]
    for warning in caught:
        found = _SAYS.search(str(warning.message))
        if found:
            return found[1]
    return ""
