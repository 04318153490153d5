"""torchvision's ResNet, half of it, classifies pictures; momentum and a schedule of rates."""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torchvision
from torch import Tensor, nn

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on four pictures."""

    def make() -> nn.Module:
        model = torchvision.models.ResNet(
            torchvision.models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5
        )
        # Half of it is enough.
        model.layer3, model.layer4 = nn.Identity(), nn.Identity()
        model.fc = nn.Linear(128, 5)
        return model

    labels = place.put(harness.words(4, below=5))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, labels, label_smoothing=0.1)

    def optimizer(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-4)

    inputs = {"x": harness.noise(4, 3, 32, 32)}
    return harness.train(place, make, inputs, loss, optimizer=optimizer, steps=2)
