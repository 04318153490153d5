"""Random numbers drawn on the host, whatever the device: for programs whose results are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

# Where a function takes the chance of dropout, by position or as `dropout_p`.
_CHANCES = {
    "gru": 5,
    "lstm": 5,
    "multi_head_attention_forward": 10,
    "scaled_dot_product_attention": 4,
}


class HostNumbers(TorchFunctionMode):
    """Draws numbers on the CPU and moves them; leaves dropout out, whose masks are drawn in kernels."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Iterable[type],
        arguments: tuple[Any, ...] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        """Calls the function with other arguments where it draws numbers."""
        del types
        keywords = dict(named or {})
        name = getattr(function, "__name__", "")
        if name in ("rand", "randn", "randint") and "device" in keywords:
            device = keywords.pop("device")
            return function(*arguments, **keywords).to(device)
        if name in ("dropout", "dropout_"):
            return arguments[0]
        at = _CHANCES.get(name, len(arguments))
        if at < len(arguments):
            arguments = (*arguments[:at], 0.0, *arguments[at + 1 :])
        elif name in _CHANCES and "dropout_p" in keywords:
            keywords["dropout_p"] = 0.0
        return function(*arguments, **keywords)


def on_host(train: Callable[[str], list[float]], device: str) -> torch.Tensor:
    """The losses of a training whose numbers come from the host."""
    with HostNumbers():
        return torch.tensor(train(device), dtype=torch.float64)
