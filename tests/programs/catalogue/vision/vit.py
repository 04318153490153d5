"""ViT classifies pictures."""

from __future__ import annotations

from transformers import ViTConfig, ViTForImageClassification

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures."""
    config = ViTConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        image_size=16,
        patch_size=4,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=5,
    )
    inputs = {"pixel_values": harness.noise(2, 3, 16, 16), "labels": harness.words(2, below=5)}
    return harness.train(place, lambda: ViTForImageClassification(config), inputs)
