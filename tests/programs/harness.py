"""What the programs share: a place to run at, training in a few steps, and random inputs.

A program is a module of programs/ with a function `run`, which is given a place and returns what is compared. It
may have:

    TOLERANCES   what it is held to, by type, where that is not DEFAULT_TOLERANCES
    TYPES        the types that it is run in, where these are not all of DEFAULT_TOLERANCES
    ENVIRONMENT  variables of its process, as a dict of literals
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

Results = dict[str, list[Tensor]]
"""What a program returns: tensors by name. Those of one name are compared together."""


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a program runs.

    Attributes:
        device: such as `cpu` or `cuda:0`.
        dtype: the floating-point type of its models.
    """

    device: torch.device
    dtype: torch.dtype

    @property
    def accelerator(self) -> str:
        """The device as Lightning, accelerate and their kin name it: `cpu` or `gpu`."""
        return "cpu" if self.device.type == "cpu" else "gpu"

    def put(self, value: Any) -> Any:
        """Brings tensors here, and those with floating-point numbers to the type.

        Args:
            value: a tensor, a module, or lists, tuples and dicts of them; anything else is left as it is.
        """
        if isinstance(value, nn.Module):
            return value.to(self.device, self.dtype)
        if isinstance(value, Tensor):
            if value.is_complex():
                return value.to(self.device, self.dtype.to_complex())
            return value.to(self.device, self.dtype if value.is_floating_point() else value.dtype)
        if isinstance(value, Mapping):
            return {name: self.put(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.put(item) for item in value)
        return value


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far results of the device may be from the CPU's.

    Attributes:
        error: the largest difference, of the largest number of the same name.
        because: why it is not the default; empty where it is.
    """

    error: float
    because: str = ""


DEFAULT_TOLERANCES: Mapping[torch.dtype, Tolerance] = {
    torch.float64: Tolerance(1e-9),
    torch.float32: Tolerance(1e-3),
}

FLOAT32_INSIDE: Mapping[torch.dtype, Tolerance] = {
    torch.float64: Tolerance(1e-4, "it computes some in float32, whatever the model's type is"),
}
"""Of models that convert to float32 by themselves, such as transformers' when they compute norms or losses."""


def words(*shape: int, below: int = 64, seed: int = 1) -> Tensor:
    """Random numbers of words.

    Args:
        *shape: of the tensor.
        below: how many words there are.
        seed: for other numbers.
    """
    return torch.randint(1, below, shape, generator=torch.Generator().manual_seed(seed))


def noise(*shape: int, seed: int = 2) -> Tensor:
    """Normally distributed numbers: pictures, sounds.

    Args:
        *shape: of the tensor.
        seed: for other numbers.
    """
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def adamw(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimizer of most programs, with PyTorch's defaults."""
    return torch.optim.AdamW(parameters, lr=1e-3)


def sgd(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimizer of models some of whose gradients are zero but for rounding: Adam would divide that by itself."""
    return torch.optim.SGD(parameters, lr=1e-2)


def own_loss(outputs: Any) -> Tensor:
    """The loss that models of transformers compute when they are given labels."""
    loss: Tensor = outputs["loss"]
    return loss


def tensors(value: Any) -> list[Tensor]:
    """All tensors in what a model returns, those of lists and dicts among them, on the CPU.

    Args:
        value: what the model returned.
    """
    if isinstance(value, Tensor):
        return [value.detach().cpu()]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors(item)]
    return []


def state(model: nn.Module) -> Results:
    """The parameters, buffers and gradients of a model, for comparison."""
    return {
        "parameters": tensors(list(model.parameters())),
        "buffers": tensors(list(model.buffers())),
        "gradients": [p.grad.detach().cpu() for p in model.parameters() if p.grad is not None],
    }


def train(
    place: Place,
    make: Callable[[], nn.Module],
    inputs: Mapping[str, Any],
    loss: Callable[[Any], Tensor] = own_loss,
    *,
    optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer] = adamw,
    steps: int = 3,
) -> Results:
    """Trains a model for some steps, then runs it once without gradients.

    Args:
        place: where.
        make: makes the model, with numbers that come from torch's generator of the CPU.
        inputs: the model's arguments by name.
        loss: takes the loss out of what the model returns, or computes it.
        optimizer: makes the optimizer.
        steps: how many.

    Returns:
        losses, outputs (after training), parameters, buffers and gradients (of the last step).

    Raises:
        ValueError: a loss is not finite, and with it nothing that comes after: all would be alike anywhere.
    """
    torch.manual_seed(0)
    model = place.put(make())
    batch = place.put(inputs)
    chosen = optimizer(model.parameters())
    losses = []
    model.train()
    for _ in range(steps):
        chosen.zero_grad()
        value = loss(model(**batch))
        if not bool(value.isfinite()):
            raise ValueError(f"the loss is {value.item()}")
        value.backward()
        chosen.step()
        losses.append(value.detach())
    model.eval()
    with torch.no_grad():
        outputs = tensors(model(**batch))
    return {"losses": tensors(losses), "outputs": outputs, **state(model)}


def generate(place: Place, make: Callable[[], Any], prompt: Tensor, **arguments: Any) -> Results:
    """Has a language model of transformers continue a text, each time with its most probable word.

    Args:
        place: where.
        make: makes the model.
        prompt: numbers of words, a row a text.
        **arguments: for the model's `generate`.
    """
    torch.manual_seed(0)
    model = place.put(make()).eval()
    prompt = place.put(prompt)
    found = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=6,
        do_sample=False,
        pad_token_id=0,
        eos_token_id=None,
        return_dict_in_generate=True,
        output_scores=True,
        **arguments,
    )
    return {"words": tensors(found.sequences), "scores": tensors(found.scores)}


def named(prefix: str, results: Results) -> Results:
    """Results under longer names, where a program has those of several parts."""
    return {f"{prefix} {name}": value for name, value in results.items()}
