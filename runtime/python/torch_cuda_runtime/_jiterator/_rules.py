"""The type and the layout that PyTorch gives to results of elementwise functions of several tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def common_dtype(tensors: Sequence[torch.Tensor]) -> torch.dtype:
    """The type that tensors are promoted to.

    Tensors with dimensions come before those without, as torch.result_type has it for two of them.

    Args:
        tensors: one or more.

    Returns:
        A type that all are converted to.
    """
    by_rank: dict[bool, torch.dtype] = {}
    for tensor in tensors:
        has_dimensions = tensor.dim() > 0
        known = by_rank.get(has_dimensions)
        by_rank[has_dimensions] = (
            tensor.dtype if known is None else torch.promote_types(known, tensor.dtype)
        )
    if len(by_rank) == 1:
        return next(iter(by_rank.values()))
    return torch.result_type(
        torch.empty(1, dtype=by_rank[True], device="meta"),
        torch.empty((), dtype=by_rank[False], device="meta"),
    )


def strides(tensors: Sequence[torch.Tensor], size: Sequence[int]) -> tuple[int, ...]:
    """The strides of a result: dense, with the dimensions in memory in the order that they have in the inputs.

    Args:
        tensors: one or more, with sizes that broadcast to `size`.
        size: of the result.

    Returns:
        A stride for each dimension, in elements.
    """
    shape = tuple(size)
    if all(tuple(tensor.shape) == shape for tensor in tensors):
        same = _of_equal_layout(tensors)
        if same is not None:
            return same
    order = _order([_broadcast(tensor, shape) for tensor in tensors], shape)
    if order == list(reversed(range(len(shape)))):
        return torch.empty(shape, device="meta").stride()
    return _dense(shape, order)


def _of_equal_layout(tensors: Sequence[torch.Tensor]) -> tuple[int, ...] | None:
    """The strides of tensors of one size that lie in memory in the same way, or None."""
    first = tensors[0]
    if all(tensor.is_contiguous() for tensor in tensors):
        return torch.empty(first.shape, device="meta").stride()
    if first.dim() == 4 and all(
        tensor.is_contiguous(memory_format=torch.channels_last) for tensor in tensors
    ):
        return torch.empty(first.shape, device="meta", memory_format=torch.channels_last).stride()
    if all(tensor.stride() == first.stride() and _is_dense(tensor) for tensor in tensors):
        return first.stride()
    return None


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether each place in memory between the first and the last is one element's."""
    expected = 1
    for dimension in sorted(range(tensor.dim()), key=tensor.stride):
        if tensor.shape[dimension] == 1:
            continue
        if tensor.stride(dimension) != expected:
            return False
        expected *= tensor.shape[dimension]
    return True


def _broadcast(tensor: torch.Tensor, shape: tuple[int, ...]) -> list[int]:
    """Strides by the dimensions of the result, with 0 for those that the tensor does not have."""
    missing = len(shape) - tensor.dim()
    return [0] * missing + [
        0 if tensor.shape[i] == 1 and shape[missing + i] != 1 else tensor.stride(i)
        for i in range(tensor.dim())
    ]


def _order(inputs: Sequence[Sequence[int]], shape: tuple[int, ...]) -> list[int]:
    """The dimensions from the innermost in memory: the first input that tells two apart decides.

    An insertion sort, because the comparison is no order: where an input has a stride of 0 it says nothing.
    """
    order = list(reversed(range(len(shape))))
    for i in range(1, len(order)):
        moving = i
        for other in reversed(range(i)):
            which = _outer(inputs, shape, order[other], order[moving])
            if which > 0:
                order[other], order[moving] = order[moving], order[other]
                moving = other
            elif which < 0:
                break
    return order


def _outer(inputs: Sequence[Sequence[int]], shape: tuple[int, ...], one: int, other: int) -> int:
    """1 where the first of two dimensions is outside of the other, -1 where it is inside, 0 if nothing says so."""
    for input_strides in inputs:
        mine, its = input_strides[one], input_strides[other]
        if mine == 0 or its == 0:
            continue
        if mine != its:
            return 1 if mine > its else -1
        if shape[one] > shape[other]:
            return 1
    return 0


def _dense(shape: tuple[int, ...], order: Sequence[int]) -> tuple[int, ...]:
    """Strides without gaps, for dimensions from the innermost."""
    result = [0] * len(shape)
    stride = 1
    for dimension in order:
        result[dimension] = stride
        stride *= shape[dimension]
    return tuple(result)
