"""Gemma 2: soft caps, and windows of attention in every second layer."""

from __future__ import annotations

from transformers import Gemma2Config, Gemma2ForCausalLM

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two texts."""
    config = Gemma2Config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        sliding_window=4,
        max_position_embeddings=32,
        attn_implementation="eager",
    )
    texts = harness.words(2, 10)
    inputs = {"input_ids": texts, "labels": texts}
    return harness.train(place, lambda: Gemma2ForCausalLM(config), inputs)
