"""Ways into an operator: what each gives for a sample of it (OpInfo), on any device."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

Arguments = tuple[Any, tuple[Any, ...], dict[str, Any]]
# Takes an operator and a sample's arguments, and gives what is to be the same on all devices; None where the operator
# does not go that way.
Way = Callable[[Any, Arguments], Any]

HALVES = (torch.float16, torch.bfloat16)

_func: Any = torch.func  # its type lacks what it has

_LEFT_OUT = {
    "empty": "memory that nobody wrote to",
    "empty_like": "memory that nobody wrote to",
    "empty_permuted": "memory that nobody wrote to",
    "empty_strided": "memory that nobody wrote to",
    "new_empty": "memory that nobody wrote to",
    "new_empty_strided": "memory that nobody wrote to",
    "tensor_split": "takes its indices from the host",
    "jiterator_unary": "compiles CUDA code",
    "jiterator_binary": "compiles CUDA code",
    "jiterator_binary_return_by_ref": "compiles CUDA code",
    "jiterator_2inputs_2outputs": "compiles CUDA code",
    "jiterator_4inputs_with_extra_args": "compiles CUDA code",
}


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in a structure."""
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def named(operator: Any) -> str:
    """The name of an OpInfo, with its variant."""
    variant = operator.variant_test_name
    return f"{operator.name}.{variant}" if variant else str(operator.name)


def operators() -> Iterator[Any]:
    """The OpInfos whose results can be held against another device's."""
    return (operator for operator in op_db if operator.name not in _LEFT_OUT)


def samples(operator: Any, dtype: torch.dtype, count: int) -> list[Any]:
    """The first samples of an operator on the host; none where it does not take the type."""
    if dtype not in operator.dtypes and dtype not in operator.dtypesIfCUDA:
        return []
    differentiable = operator.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    try:
        found = operator.sample_inputs("cpu", dtype, requires_grad=differentiable)
        return list(itertools.islice(found, count))
    except RuntimeError:  # the CPU cannot make them
        return []


class Widened:
    """A sample in double precision.

    Args:
      sample: one with tensors of half precision.
    """

    def __init__(self, sample: Any) -> None:
        self.input, self.args, self.kwargs = pytree.tree_map(
            _widened, (sample.input, sample.args, sample.kwargs)
        )


def _widened(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor) and leaf.dtype in HALVES:
        return leaf.detach().double().requires_grad_(leaf.requires_grad)
    return torch.float64 if isinstance(leaf, torch.dtype) and leaf in HALVES else leaf


def arguments_on(device: str, sample: Any, *, gradients: bool) -> Arguments:
    """Copies of a sample's arguments, with tensors and devices on `device`."""

    def change(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            copy = leaf.detach().clone() if device == "cpu" else leaf.detach().to(device)
            return copy.requires_grad_(gradients and leaf.requires_grad)
        if leaf == torch.device("cpu") or (isinstance(leaf, str) and leaf == "cpu"):
            return torch.device(device)
        return leaf

    return pytree.tree_map(change, (sample.input, sample.args, sample.kwargs))  # type: ignore[no-any-return]


def call(operator: Any, arguments: Arguments) -> Any:
    """What the operator gives."""
    return operator(arguments[0], *arguments[1], **arguments[2])


def _inputs_too(operator: Any, arguments: Arguments) -> Any:
    return call(operator, arguments), tensors(arguments)


def _differentiable(value: Any) -> list[torch.Tensor]:
    return [tensor for tensor in tensors(value) if tensor.requires_grad]


def _cotangent(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout != torch.strided:
        return torch.ones_like(tensor)
    numbers = torch.linspace(0.5, 1.5, tensor.numel(), dtype=torch.float64)
    return numbers.to(device=tensor.device, dtype=tensor.dtype).reshape(tensor.shape)


def _gradients(operator: Any, arguments: Arguments, *, twice: bool) -> list[torch.Tensor] | None:
    outputs, inputs = _differentiable(call(operator, arguments)), _differentiable(arguments)
    if not outputs or not inputs:
        return None
    first = torch.autograd.grad(
        outputs, inputs, [_cotangent(t) for t in outputs], allow_unused=True, create_graph=twice
    )
    if not twice:
        return [gradient for gradient in first if gradient is not None]
    squares = [(g * g.conj()).real.sum() for g in first if g is not None and g.requires_grad]
    if not squares:
        return []
    total = torch.stack([square.to(squares[0].dtype) for square in squares]).sum()
    second = torch.autograd.grad(total, inputs, allow_unused=True)
    return [gradient for gradient in second if gradient is not None]


def _backward(operator: Any, arguments: Arguments) -> Any:
    return _gradients(operator, arguments, twice=False)


def _double_backward(operator: Any, arguments: Arguments) -> Any:
    return _gradients(operator, arguments, twice=True)


def _out(operator: Any, arguments: Arguments) -> Any:
    if not operator.supports_out:
        return None
    result = call(operator, arguments)
    places = [torch.empty_like(tensor) for tensor in tensors(result)]
    out = tuple(places) if isinstance(result, (tuple, list)) else places[0]
    return operator(arguments[0], *arguments[1], out=out, **arguments[2]), places


def _out_with_gaps(operator: Any, arguments: Arguments) -> Any:
    if not operator.supports_out:
        return None
    result = call(operator, arguments)
    whole = [
        torch.full([2 * size for size in t.shape], 7, dtype=t.dtype, device=t.device)
        for t in tensors(result)
    ]
    places = [t[tuple(slice(None, None, 2) for _ in t.shape)] for t in whole]
    out = tuple(places) if isinstance(result, (tuple, list)) else places[0]
    return operator(arguments[0], *arguments[1], out=out, **arguments[2]), whole


def _in_place(operator: Any, arguments: Arguments) -> Any:
    change = operator.get_inplace()
    if change is None:
        return None
    target = arguments[0].clone() if arguments[0].requires_grad else arguments[0]
    version = target._version
    result = change(target, *arguments[1], **arguments[2])
    inputs = _differentiable(arguments)
    found: list[torch.Tensor] = [
        result,
        target,
        torch.as_tensor(target._version > version, device=target.device),
    ]
    if inputs and result.requires_grad:
        gradients = torch.autograd.grad(result, inputs, torch.ones_like(result), allow_unused=True)
        found += [gradient for gradient in gradients if gradient is not None]
    return found


def _is_dense(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def _vmap(operator: Any, arguments: Arguments) -> Any:
    if not _is_dense(arguments[0]):
        return None
    batch = torch.stack([arguments[0].detach(), arguments[0].detach()])
    mapped = _func.vmap(
        lambda tensor: call(operator, (tensor, *arguments[1:])), randomness="different"
    )
    return mapped(batch)


def _functional_gradient(operator: Any, arguments: Arguments) -> Any:
    if not _is_dense(arguments[0]) or not arguments[0].requires_grad:
        return None

    def total(tensor: torch.Tensor) -> torch.Tensor:
        results = tensors(call(operator, (tensor, *arguments[1:])))
        sums = [
            t.abs().sum() if t.is_complex() else t.sum()
            for t in results
            if t.is_floating_point() or t.is_complex()
        ]
        return torch.stack(sums).sum()

    return _func.grad(total)(arguments[0].detach())


def _forward_derivative(operator: Any, arguments: Arguments) -> Any:
    if not _is_dense(arguments[0]) or not arguments[0].requires_grad:
        return None
    return _func.jvp(
        lambda tensor: call(operator, (tensor, *arguments[1:])),
        (arguments[0].detach(),),
        (torch.ones_like(arguments[0]),),
    )


def _autocast_of_the_cpu(operator: Any, arguments: Arguments) -> Any:
    """What is asked of the CPU's tensors is none of the device's business."""
    on_device = any(tensor.is_cuda for tensor in tensors(arguments))
    with torch.autocast("cpu", torch.bfloat16, enabled=on_device):
        return call(operator, arguments)


# With what they ask of their arguments: gradients or not.
WAYS: dict[str, tuple[Way, bool]] = {
    "forward": (_inputs_too, False),
    "out": (_out, False),
    "out_with_gaps": (_out_with_gaps, False),
    "in_place": (_in_place, True),
    "backward": (_backward, True),
    "double_backward": (_double_backward, True),
    "vmap": (_vmap, False),
    "functional_gradient": (_functional_gradient, True),
    "forward_derivative": (_forward_derivative, True),
    "autocast_of_the_cpu": (_autocast_of_the_cpu, False),
}


def attempt(operator: Any, way: str, sample: Any, device: str) -> Any:
    """What a way gives on a device, or the exception that it raises."""
    go, gradients = WAYS[way]
    # As torch.manual_seed, which formats a stack for XPU at each call, too.
    torch.default_generator.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return go(operator, arguments_on(device, sample, gradients=gradients))
        except Exception as error:  # noqa: BLE001 - whatever an operator raises
            return error
