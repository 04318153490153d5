"""torchvision's DeepLabV3: dilated convolutions and enlarging."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn
from torchvision.models.segmentation import deeplabv3

from tests.programs import harness


class _Backbone(nn.Module):
    """Two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)
        )

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"out": self.layers(x)}


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures."""

    def make() -> nn.Module:
        head = deeplabv3.DeepLabHead(8, 4, atrous_rates=(1, 2))
        for module in head.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        return deeplabv3.DeepLabV3(_Backbone(), head)

    labels = place.put(harness.words(2, 16, 16, below=4))

    def loss(outputs: Mapping[str, Tensor]) -> Tensor:
        return nn.functional.cross_entropy(outputs["out"], labels)

    return harness.train(place, make, {"x": harness.noise(2, 3, 16, 16)}, loss, steps=1)
