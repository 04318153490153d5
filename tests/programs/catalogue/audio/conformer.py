"""torchaudio's Conformer: convolutions and attention over frames of two lengths."""

from __future__ import annotations

import torch
import torchaudio
from torch import Tensor, nn

from tests.programs import harness


def _loss(outputs: tuple[Tensor, Tensor]) -> Tensor:
    return outputs[0].square().mean()


def run(place: harness.Place) -> harness.Results:
    """Trains on two sounds."""

    def make() -> nn.Module:
        return torchaudio.models.Conformer(
            input_dim=16, num_heads=4, ffn_dim=24, num_layers=2, depthwise_conv_kernel_size=5
        )

    inputs = {"input": harness.noise(2, 12, 16), "lengths": torch.tensor([12, 9])}
    return harness.train(place, make, inputs, _loss)
