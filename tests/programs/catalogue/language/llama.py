"""Llama, with fewer heads for keys than for queries, is trained on two texts, and continues one with sampling off."""

from __future__ import annotations

from transformers import LlamaConfig, LlamaForCausalLM

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains, and generates with a new model."""
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32,
    )
    texts = harness.words(2, 10)
    inputs = {"input_ids": texts, "labels": texts}
    results = harness.train(place, lambda: LlamaForCausalLM(config), inputs)
    continued = harness.generate(place, lambda: LlamaForCausalLM(config), harness.words(2, 5))
    return {**results, **harness.named("generated", continued)}
