"""diffusers' transformer for drawing (DiT): patches, and norms that depend on time and class."""

from __future__ import annotations

from collections.abc import Mapping

from diffusers import DiTTransformer2DModel
from diffusers.models.embeddings import LabelEmbedding
from torch import Tensor, nn

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def _loss(outputs: Mapping[str, Tensor]) -> Tensor:
    return outputs["sample"].square().mean()


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures."""

    def make() -> nn.Module:
        model: nn.Module = DiTTransformer2DModel(
            num_attention_heads=2,
            attention_head_dim=8,
            in_channels=4,
            out_channels=4,
            num_layers=2,
            sample_size=8,
            patch_size=2,
            norm_num_groups=4,
            num_embeds_ada_norm=10,
        )
        # It drops classes at random.
        for module in model.modules():
            if isinstance(module, LabelEmbedding):
                module.dropout_prob = 0.0
        return model

    inputs = {
        "hidden_states": harness.noise(2, 4, 8, 8),
        "timestep": harness.words(2, below=10),
        "class_labels": harness.words(2, below=10, seed=3),
    }

    return harness.train(place, make, inputs, _loss)
