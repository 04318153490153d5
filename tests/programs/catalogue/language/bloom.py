"""BLOOM: attention falls with the distance (ALiBi)."""

from __future__ import annotations

from transformers import BloomConfig, BloomForCausalLM

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two texts."""
    config = BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4)
    texts = harness.words(2, 10)
    inputs = {"input_ids": texts, "labels": texts}
    return harness.train(place, lambda: BloomForCausalLM(config), inputs)
