"""Arguments for operators, made by their schemas alone: many calls end in an error of the operator, some do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

Make = Callable[[], torch.Tensor]


class Unknown(Exception):
    """An argument of a kind that nothing is made for."""


def profiles(device: str) -> dict[str, Make]:
    """What the tensors of a call may be, by name.

    Args:
        device: such as "cuda:0".
    """

    def numbers(*sizes: int) -> torch.Tensor:
        return (1 + torch.arange(float(torch.Size(sizes).numel())).view(sizes) % 5).to(device)

    def positions() -> torch.Tensor:
        return torch.tensor([[0, 1, 2], [0, 1, 2], [0, 0, 1]], device="cpu").to(device)

    return {
        "matrix": lambda: numbers(3, 3),
        "row": lambda: numbers(3),
        "number": lambda: numbers(),
        "volume": lambda: numbers(2, 3, 4),
        "image": lambda: numbers(1, 3, 4, 4),
        "video": lambda: numbers(1, 3, 4, 4, 4),
        "integers": positions,
        "row of integers": lambda: positions()[2],
        "flags": lambda: torch.eye(3).bool().to(device),
        "complex": lambda: numbers(3, 3).to(torch.complex64),
        "half": lambda: numbers(3, 3).half(),
        "coo": lambda: torch.eye(3).to_sparse().to(device),
        "csr": lambda: torch.eye(3).to_sparse_csr().to(device),
        "empty": lambda: numbers(0, 3),
    }


def _value(argument: Any, make: Make, number: int, device: str) -> Any:
    kind = str(argument.type)
    if kind == "Tensor":
        return make()
    if kind == "Optional[Tensor]":
        return None
    if number == 2 and kind in ("bool", "Optional[bool]"):
        return True
    if argument.has_default_value():
        return argument.default_value
    if kind.startswith("Optional["):
        return None
    values: dict[str, Callable[[], Any]] = {
        "List[Tensor]": lambda: [make(), make()],
        "List[Optional[Tensor]]": lambda: [make()],
        "int": lambda: number,
        "SymInt": lambda: number,
        "List[int]": lambda: [max(number, 1)] * (argument.N or 2),
        "List[SymInt]": lambda: [max(number, 1)] * (argument.N or 2),
        "float": lambda: 0.5,
        "List[float]": lambda: [0.5] * (argument.N or 2),
        "bool": lambda: bool(number % 2),
        "List[bool]": lambda: [True] * (argument.N or 2),
        "number": lambda: number,
        "str": lambda: "sum",
        "ScalarType": lambda: torch.float32,
        "Device": lambda: torch.device(device),
        "Layout": lambda: torch.strided,
    }
    if kind not in values:
        raise Unknown(kind)
    return values[kind]()


def given(
    schema: Any, makes: Sequence[Make], number: int, device: str
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for a call.

    Args:
        schema: of the operator.
        makes: make its tensors, in turn; the last makes all others.
        number: where one is needed.
        device: where one is needed.

    Raises:
        Unknown: there is an argument of another kind.
    """
    waiting = list(makes)
    plain, named = [], {}
    for argument in schema.arguments:
        if str(argument.type) == "Tensor" and len(waiting) > 1:
            value = waiting.pop(0)()
        else:
            value = _value(argument, waiting[0], number, device)
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            plain.append(value)
    return plain, named


def overloads(has: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
    """PyTorch's own operators and their names.

    Args:
        has: whether an operator of a name, such as "aten::add.Tensor", is wanted.
    """
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        if namespace == "aten" and has(name):
            packet = getattr(torch.ops.aten, base, None)
            operator = getattr(packet, overload or "default", None)
            if operator is not None:
                yield name, operator
