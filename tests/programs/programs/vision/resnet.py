"""torchvision's ResNet-18, narrow, classifies pictures; momentum and a schedule of rates."""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torchvision
from torch import Tensor, nn

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on four pictures."""

    def make() -> nn.Module:
        return torchvision.models.ResNet(
            torchvision.models.resnet.BasicBlock,
            [1, 1, 1, 1],
            num_classes=5,
            groups=1,
            width_per_group=64,
        )

    labels = place.put(harness.words(4, below=5))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, labels, label_smoothing=0.1)

    def optimizer(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-4)

    inputs = {"x": harness.noise(4, 3, 32, 32)}
    return harness.train(place, make, inputs, loss, optimizer=optimizer, steps=2)
