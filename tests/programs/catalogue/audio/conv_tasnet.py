"""torchaudio's Conv-TasNet parts speakers."""

from __future__ import annotations

import torchaudio
from torch import Tensor, nn

from tests.programs import harness


def _loss(outputs: Tensor) -> Tensor:
    return (outputs - 0.1).square().mean()


def run(place: harness.Place) -> harness.Results:
    """Trains on two sounds."""

    def make() -> nn.Module:
        return torchaudio.models.ConvTasNet(
            enc_kernel_size=8,
            enc_num_feats=16,
            msk_num_feats=8,
            msk_num_hidden_feats=12,
            msk_num_layers=2,
            msk_num_stacks=2,
        )

    return harness.train(place, make, {"input": harness.noise(2, 1, 96)}, _loss)
