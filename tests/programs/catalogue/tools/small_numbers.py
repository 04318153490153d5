"""bitsandbytes on a device of 9.0: optimizers, a linear layer with weights of four bits, products of bytes."""

from __future__ import annotations

from collections.abc import Callable

import bitsandbytes
import torch
from torch import Tensor, nn

from tests.programs import harness

# Its wheel has machine code, and PTX for 9.0 alone.
ENVIRONMENT = {"CUDASIM_PROFILE": "sm_90"}

TYPES = (torch.float32,)

_BLOCK = 64

# Each with what PyTorch has in its place on the CPU.
_OPTIMIZERS: dict[str, tuple[Callable[..., torch.optim.Optimizer], ...]] = {
    "Adam32bit": (bitsandbytes.optim.Adam32bit, torch.optim.Adam),
    "Adagrad32bit": (bitsandbytes.optim.Adagrad32bit, torch.optim.Adagrad),
    "PagedAdam32bit": (bitsandbytes.optim.PagedAdam32bit, torch.optim.Adam),
    "RMSprop32bit": (bitsandbytes.optim.RMSprop32bit, torch.optim.RMSprop),
}


def _steps(place: harness.Place, kinds: tuple[Callable[..., torch.optim.Optimizer], ...]) -> Tensor:
    parameter = nn.Parameter(place.put(harness.noise(64, 128)))
    optimizer = kinds[place.device.type == "cpu"]([parameter], lr=1e-2)
    for seed in range(5):
        parameter.grad = place.put(harness.noise(64, 128, seed=seed))
        optimizer.step()
    return parameter


def _nearest(weight: Tensor) -> Tensor:
    """Each number's neighbour among the sixteen of NF4, scaled with the largest number of its block."""
    table = bitsandbytes.functional.get_4bit_type("nf4", device="cpu")
    blocks = weight.reshape(-1, _BLOCK)
    scale = blocks.abs().amax(1, keepdim=True)
    codes = (blocks / scale).unsqueeze(-1).sub(table).abs().argmin(-1)
    return (table[codes] * scale).reshape(weight.shape)


def _four_bits(place: harness.Place) -> harness.Results:
    weight, bias = harness.noise(32, 128).float(), harness.noise(32).float()
    several, one = (place.put(harness.noise(n, 128)).requires_grad_() for n in (6, 1))
    if place.device.type == "cpu":
        layer = nn.Linear(128, 32)
        layer.weight = nn.Parameter(_nearest(weight), requires_grad=False)
    else:
        layer = bitsandbytes.nn.Linear4bit(128, 32, compute_dtype=torch.float32, quant_type="nf4")
        layer.weight = bitsandbytes.nn.Params4bit(
            weight, False, blocksize=_BLOCK, compress_statistics=False, quant_type="nf4"
        )
    layer.bias = nn.Parameter(bias)
    layer = layer.to(place.device)
    outputs = [layer(several), layer(one.detach())]
    outputs[0].square().sum().backward()
    return {
        "outputs": harness.tensors(outputs),
        "gradients": harness.tensors([several.grad, layer.bias.grad]),
    }


def _products_of_bytes(place: harness.Place) -> Tensor:
    left, right = (
        harness.words(n, 64, below=255, seed=n).sub(128).to(torch.int8) for n in (32, 48)
    )
    if place.device.type == "cpu":
        return left.int() @ right.int().t()
    product: Tensor = bitsandbytes.functional.int8_linear_matmul(
        left.to(place.device), right.to(place.device)
    )
    return product


def run(place: harness.Place) -> harness.Results:
    """Takes steps, and uses the layer; on the CPU with what PyTorch has, for the package has no kernels there."""
    return {
        **{name: harness.tensors(_steps(place, kinds)) for name, kinds in _OPTIMIZERS.items()},
        **_four_bits(place),
        "products": harness.tensors(_products_of_bytes(place)),
    }
