"""CLIP puts texts and pictures beside each other."""

from __future__ import annotations

import torch
from transformers import CLIPConfig, CLIPModel

from tests.programs import harness

# transformers makes its mask in float32 and fills it with the lowest number of the model's type.
TYPES = (torch.float32,)

_SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}


def run(place: harness.Place) -> harness.Results:
    """Trains on three pairs."""
    config = CLIPConfig(
        text_config={**_SIZES, "vocab_size": 64, "max_position_embeddings": 16},
        vision_config={**_SIZES, "image_size": 16, "patch_size": 8},
        projection_dim=16,
    )
    inputs = {
        "input_ids": harness.words(3, 8),
        "pixel_values": harness.noise(3, 3, 16, 16),
        "return_loss": True,
    }
    return harness.train(place, lambda: CLIPModel(config), inputs, optimizer=harness.sgd)
