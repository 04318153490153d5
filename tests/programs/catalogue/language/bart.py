"""BART: encoder and decoder, with beams."""

from __future__ import annotations

from transformers import BartConfig, BartForConditionalGeneration

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two pairs of texts, and generates with two beams."""
    config = BartConfig(
        vocab_size=64,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=32,
        dropout=0.0,
        forced_eos_token_id=None,
    )
    inputs = {"input_ids": harness.words(2, 9), "labels": harness.words(2, 6, seed=3)}
    results = harness.train(place, lambda: BartForConditionalGeneration(config), inputs)
    continued = harness.generate(
        place, lambda: BartForConditionalGeneration(config), harness.words(2, 5), num_beams=2
    )
    return {**results, **harness.named("generated", continued)}
