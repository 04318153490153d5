"""diffusers' autoencoder of pictures (AutoencoderKL)."""

from __future__ import annotations

from typing import Any

from diffusers import AutoencoderKL
from torch import Tensor, nn

from tests.programs import harness


class _Whole(nn.Module):
    """Takes the mean of what the encoder says, and no sample of it."""

    def __init__(self) -> None:
        super().__init__()
        self.coder: Any = AutoencoderKL(
            block_out_channels=(8, 16),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            latent_channels=4,
            norm_num_groups=4,
        )

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        codes = self.coder.encode(pictures).latent_dist
        return self.coder.decode(codes.mode()).sample - pictures, codes.kl()


def _loss(outputs: tuple[Tensor, Tensor]) -> Tensor:
    return outputs[0].square().mean() + 1e-3 * outputs[1].mean()


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures."""
    inputs = {"pictures": harness.noise(2, 3, 16, 16)}
    return harness.train(place, _Whole, inputs, _loss, steps=2)
