"""Types, shapes, strides and errors of operators' results, on CUDA and on the CPU: for PyTorch's own sample arguments.

    python3 -m tools.gpu.layouts [--operator NAME] [--type NAME] [--part 1/8]

Prints one line for each operator, type and layout of arguments for which CUDA's result does not look as the CPU's does,
or where one of both raises. A device that the CPU serves gives results that look as the CPU's. Needs the package
expecttest, as PyTorch's tables of samples (`torch.testing._internal`) do.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from tools.gpu import sample_table

_SAMPLES = 12  # of each operator
_TYPES = ("float32", "bfloat16", "float16", "int64", "bool", "complex64")
# Random, or named by a device, or too long.
_LEFT_OUT = (
    "empty",
    "bernoulli",
    "multinomial",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "_refs",
)


def _as_is(tensor: Tensor) -> Tensor:
    return tensor


def _transposed(tensor: Tensor) -> Tensor:
    if tensor.dim() < 2 or not tensor.is_contiguous():
        return tensor
    moved = tensor.detach().transpose(-1, -2).contiguous().transpose(-1, -2)
    return moved.requires_grad_(tensor.requires_grad)


def _channels_last(tensor: Tensor) -> Tensor:
    if tensor.dim() != 4 or not tensor.is_contiguous():
        return tensor
    moved = tensor.detach().contiguous(memory_format=torch.channels_last)
    return moved.requires_grad_(tensor.requires_grad)


def _spaced(tensor: Tensor) -> Tensor:
    if tensor.dim() < 1 or not tensor.is_contiguous():
        return tensor
    moved = torch.stack([tensor.detach()] * 2, -1)[..., 0]
    return moved.requires_grad_(tensor.requires_grad)


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "as it is": _as_is,
    "transposed": _transposed,
    "channels last": _channels_last,
    "spaced": _spaced,
}


def tensors_of(value: Any) -> Iterator[Tensor]:
    """The tensors in a result, those in its tuples and lists too."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_of(item)


def look(tensor: Tensor) -> str:
    """How a tensor looks, but for its device and its numbers."""
    if tensor.layout != torch.strided:
        return f"{tensor.dtype} {tensor.layout} {tuple(tensor.shape)}"
    # The strides of a dimension of size 1, and of an empty tensor, say nothing.
    strides = tuple(
        step if size > 1 and tensor.numel() else "-"
        for size, step in zip(tensor.shape, tensor.stride(), strict=True)
    )
    return f"{str(tensor.dtype)[6:]} {tuple(tensor.shape)} {strides}"


def outcome(operator: Any, sample: Any, change: Callable[[Tensor], Tensor]) -> list[str]:
    """How the results, and the gradients, of one call look; or how it fails."""
    sample = sample.transform(lambda value: change(value) if isinstance(value, Tensor) else value)
    arguments = [sample.input, *sample.args]
    try:
        result = operator(*arguments, **sample.kwargs)
        seen = [look(tensor) for tensor in tensors_of(result)]
        wanted = [t for t in tensors_of(arguments) if t.requires_grad]
        made = [t for t in tensors_of(result) if t.requires_grad]
        if wanted and made:
            given = [torch.ones_like(tensor) for tensor in made]
            gradients = torch.autograd.grad(made, wanted, given, allow_unused=True)
            seen += ["gradient " + (look(g) if g is not None else "None") for g in gradients]
        return seen
    except sample_table.REFUSALS as error:
        return [f"raises {type(error).__name__}: {str(error).splitlines()[0][:100]}"]


def compare(operator: Any, dtype: torch.dtype) -> Iterator[str]:
    """The differences of one operator, one for each layout of its arguments."""
    with_gradient = operator.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    for name, change in LAYOUTS.items():
        if dtype != torch.float32 and name != "as it is":
            continue
        both = [
            itertools.islice(
                operator.sample_inputs(device, dtype, requires_grad=with_gradient), _SAMPLES
            )
            for device in ("cpu", "cuda")
        ]
        for number, (here, there) in enumerate(zip(*both, strict=False)):
            cpu, cuda = (outcome(operator, sample, change) for sample in (here, there))
            if cpu[0][:6] == cuda[0][:6] == "raises":
                continue
            if cpu != cuda:
                pairs = [(a, b) for a, b in itertools.zip_longest(cpu, cuda) if a != b]
                shapes = [tuple(t.shape) for t in tensors_of([here.input, *here.args])]
                yield (
                    f"{operator.name} {str(dtype)[6:]} {name} #{number} {shapes}: "
                    f"{'; '.join(f'{a} | {b}' for a, b in pairs[:2])}"
                )
                break


def main() -> int:
    """Prints the differences of all operators, or of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operator", help="a name of the table; default: all")
    parser.add_argument("--type", help="float32, …; default: all")
    sample_table.add_part(parser)
    options = parser.parse_args()
    operators = sample_table.operators(options.part)
    print(torch.__version__, torch.cuda.get_device_name(), flush=True)
    for operator in operators:
        if operator.name.startswith(_LEFT_OUT) or options.operator not in (None, operator.name):
            continue
        for name in [options.type] if options.type else _TYPES:
            dtype = getattr(torch, name)
            if dtype not in {*operator.dtypes, *operator.dtypesIfCUDA}:
                continue
            torch.manual_seed(0)
            try:
                for line in compare(operator, dtype):
                    print(line, flush=True)
            except Exception as error:  # noqa: BLE001
                print(
                    f"{operator.name} {name} samples: {type(error).__name__}: {str(error)[:100]}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
