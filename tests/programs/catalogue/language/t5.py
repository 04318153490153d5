"""T5 translates."""

from __future__ import annotations

from transformers import T5Config, T5ForConditionalGeneration

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two pairs of texts."""
    config = T5Config(
        vocab_size=64,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        feed_forward_proj="gated-gelu",
        decoder_start_token_id=0,
    )
    inputs = {"input_ids": harness.words(2, 9), "labels": harness.words(2, 6, seed=3)}
    return harness.train(place, lambda: T5ForConditionalGeneration(config), inputs)
