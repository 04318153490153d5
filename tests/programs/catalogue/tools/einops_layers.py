"""einops: rearranging, reducing, repeating, its layers and its sums of products."""

from __future__ import annotations

import torch
from einops import einsum, pack, rearrange, reduce, repeat
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import Tensor, nn

from tests.programs import harness


def _loss(outputs: Tensor) -> Tensor:
    return nn.functional.cross_entropy(outputs, torch.zeros_like(outputs[:, 0], dtype=torch.long))


def run(place: harness.Place) -> harness.Results:
    """Trains a network of its layers, and calls its functions."""

    def make() -> nn.Module:
        return nn.Sequential(
            Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4),
            EinMix(
                "b t c -> b t d",
                weight_shape="c d",
                bias_shape="d",
                c=48,
                d=16,
            ),
            nn.GELU(),
            Reduce("b t d -> b d", "mean"),
            nn.Linear(16, 4),
        )

    pictures = place.put(harness.noise(2, 3, 8, 8))
    packed, _ = pack([pictures, pictures[:, 0]], "b * h")
    found = {
        "moved": rearrange(pictures, "b c (h p) w -> (b p) h w c", p=2),
        "largest": reduce(pictures, "b c (h 2) (w 2) -> b h w c", "max"),
        "product": reduce(pictures.sigmoid(), "b c h w -> b c", "prod"),
        "repeated": repeat(pictures, "b c h w -> b (r c) h w", r=2),
        "sums": einsum(pictures, pictures, "b c h w, b d h w -> b c d"),
        "packed": packed,
    }
    results = {name: harness.tensors(value) for name, value in found.items()}
    trained = harness.train(place, make, {"input": harness.noise(2, 3, 8, 8)}, _loss)
    return {**results, **trained}
