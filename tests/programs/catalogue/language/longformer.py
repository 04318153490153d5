"""Longformer classifies texts: attention in sliding windows."""

from __future__ import annotations

from transformers import LongformerConfig, LongformerForSequenceClassification

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two texts."""
    config = LongformerConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        attention_window=4,
        max_position_embeddings=40,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=3,
    )
    inputs = {"input_ids": harness.words(2, 16), "labels": harness.words(2, below=3)}
    return harness.train(place, lambda: LongformerForSequenceClassification(config), inputs)
