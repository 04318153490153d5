"""timm's EVA-02: turned positions, gated units; trained with Lion."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from timm.models.eva import Eva
from timm.optim import Lion
from torch import Tensor, nn

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures."""

    def make() -> nn.Module:
        model: nn.Module = Eva(
            img_size=16,
            patch_size=4,
            num_classes=5,
            embed_dim=32,
            depth=2,
            num_heads=4,
            qkv_fused=False,
            swiglu_mlp=True,
            scale_mlp=True,
            use_rot_pos_emb=True,
            ref_feat_shape=(4, 4),
        )
        return model

    labels = place.put(harness.words(2, below=5))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, labels)

    def optimizer(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        chosen: torch.optim.Optimizer = Lion(parameters, lr=1e-4)
        return chosen

    inputs = {"x": harness.noise(2, 3, 16, 16)}
    return harness.train(place, make, inputs, loss, optimizer=optimizer, steps=2)
