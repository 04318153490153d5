"""Whisper writes down what is said."""

from __future__ import annotations

from transformers import WhisperConfig, WhisperForConditionalGeneration

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on two spectrograms."""
    config = WhisperConfig(
        vocab_size=64,
        num_mel_bins=8,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=12,
        max_target_positions=16,
        dropout=0.0,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    inputs = {"input_features": harness.noise(2, 8, 24), "labels": harness.words(2, 6)}
    return harness.train(place, lambda: WhisperForConditionalGeneration(config), inputs)
