"""torchvision's Swin transformer V2: attention in shifted windows."""

from __future__ import annotations

from torch import Tensor, nn
from torchvision.models import swin_transformer

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures."""

    def make() -> nn.Module:
        return swin_transformer.SwinTransformer(
            patch_size=[2, 2],
            embed_dim=16,
            depths=[2, 2],
            num_heads=[2, 4],
            window_size=[4, 4],
            stochastic_depth_prob=0.0,
            num_classes=5,
            block=swin_transformer.SwinTransformerBlockV2,
            downsample_layer=swin_transformer.PatchMergingV2,
        )

    labels = place.put(harness.words(2, below=5))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, labels)

    return harness.train(place, make, {"x": harness.noise(2, 3, 16, 16)}, loss)
