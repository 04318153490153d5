"""Operators by PyTorch's samples of them (OpInfo): what one gives on a device, forwards and backwards."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_device_type import skipCPUIfNoLapack
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

# Why an operator's results cannot be held against the CPU's.
_LEFT_OUT = {
    "empty": "memory that nobody wrote to",
    "empty_like": "memory that nobody wrote to",
    "empty_permuted": "memory that nobody wrote to",
    "empty_strided": "memory that nobody wrote to",
    "new_empty": "memory that nobody wrote to",
    "new_empty_strided": "memory that nobody wrote to",
    "tensor_split": "takes its indices from the host",
}
# A derivative asks whether its tensors are CUDA's, and rounds otherwise.
_CLOSE = frozenset({"renorm"})


def rounds(operator: Any) -> bool:
    """Whether the last bits may differ: LAPACK's do on the CPU alone, with the memory it works in."""
    return operator.name in _CLOSE or skipCPUIfNoLapack in operator.decorators


@dataclasses.dataclass
class Results:
    """What an operator gives, brought to the host.

    Attributes:
      outputs: its tensors.
      gradients: of its inputs, for gradients of one.
    """

    outputs: list[torch.Tensor]
    gradients: list[torch.Tensor | None]


def _each_tensor(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    return pytree.tree_map(
        lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf, value
    )


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _on(device: str, sample: Any) -> Any:
    """The sample's input, arguments and keywords, with tensors and devices on `device`."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        copy = tensor.detach().to(device) if device != "cpu" else tensor.detach().clone()
        return copy.requires_grad_(tensor.requires_grad)

    def change(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return move(leaf)
        if leaf == torch.device("cpu") or leaf == "cpu":
            return torch.device(device)
        return leaf

    return pytree.tree_map(change, (sample.input, sample.args, sample.kwargs))


def run(operator: Any, device: str, sample: Any) -> Results:
    """Calls an operator and differentiates it.

    Args:
        operator: of op_db.
        device: where its tensors shall be.
        sample: of the operator, on the host.

    Returns:
        Its results.

    Raises:
        AssertionError: a result is elsewhere.
    """
    arguments = _on(device, sample)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = operator(arguments[0], *arguments[1], **arguments[2])
    outputs = _tensors(result)
    inputs = [tensor for tensor in _tensors(arguments) if tensor.requires_grad]
    differentiable = [tensor for tensor in outputs if tensor.requires_grad]
    gradients: tuple[torch.Tensor | None, ...] = ()
    if inputs and differentiable and operator.supports_autograd:
        ones = [torch.ones_like(tensor) for tensor in differentiable]
        gradients = torch.autograd.grad(differentiable, inputs, ones, allow_unused=True)
    for tensor in (*outputs, *gradients):
        if tensor is not None and tensor.device.type != device:
            raise AssertionError(f"a result is on {tensor.device}")
    return Results(
        [tensor.detach().cpu() for tensor in outputs],
        [None if tensor is None else tensor.cpu() for tensor in gradients],
    )


def operators() -> Iterator[tuple[str, Any]]:
    """The operators that have samples of float32, by names that a test can have."""
    for operator in op_db:
        name = operator.name
        if operator.variant_test_name:
            name += f".{operator.variant_test_name}"
        if torch.float32 in operator.dtypes and name not in _LEFT_OUT:
            yield name.replace(".", "_"), operator
