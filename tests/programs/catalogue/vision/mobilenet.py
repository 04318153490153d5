"""torchvision's MobileNetV3: convolutions by channel, squeezing, hard activations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import torch
from torch import Tensor, nn
from torchvision.models import mobilenetv3

from tests.programs import harness

TOLERANCES = {
    torch.float64: harness.Tolerance(
        1e-6, "PyTorch's hardswish and hardsigmoid for CUDA take a sixth in float32"
    ),
}


def run(place: harness.Place) -> harness.Results:
    """Trains on four pictures, with RMSprop."""

    def make() -> nn.Module:
        block = partial(mobilenetv3.InvertedResidualConfig, width_mult=1.0)
        blocks = [
            block(8, 3, 16, 8, True, "RE", 2, 1),
            block(8, 5, 24, 16, True, "HS", 2, 1),
            block(16, 3, 24, 16, False, "HS", 1, 1),
        ]
        return mobilenetv3.MobileNetV3(blocks, last_channel=32, num_classes=5, dropout=0.0)

    labels = place.put(harness.words(4, below=5))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, labels)

    def optimizer(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.RMSprop(parameters, lr=1e-4, momentum=0.9)

    inputs = {"x": harness.noise(4, 3, 32, 32)}
    return harness.train(place, make, inputs, loss, optimizer=optimizer)
