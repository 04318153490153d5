"""torchvision's ResNet for videos, half of it: convolutions in space and time."""

from __future__ import annotations

from torch import Tensor, nn
from torchvision.models.video import resnet

from tests.programs import harness


class _Stem(nn.Sequential):
    """Narrower than torchvision's own."""

    def __init__(self) -> None:
        super().__init__(nn.Conv3d(3, 64, 3, stride=2, padding=1, bias=False), nn.ReLU())


def run(place: harness.Place) -> harness.Results:
    """Trains on two videos."""

    def make() -> nn.Module:
        model = resnet.VideoResNet(
            resnet.BasicBlock,
            [resnet.Conv2Plus1D, *[resnet.Conv3DSimple] * 3],
            [1, 1, 1, 1],
            _Stem,
            num_classes=5,
        )
        # Half of it is enough.
        model.layer3, model.layer4 = nn.Identity(), nn.Identity()
        model.fc = nn.Linear(128, 5)
        return model

    labels = place.put(harness.words(2, below=5))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, labels)

    return harness.train(place, make, {"x": harness.noise(2, 3, 4, 16, 16)}, loss, steps=1)
