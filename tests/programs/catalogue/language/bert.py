"""BERT fills in words."""

from __future__ import annotations

from transformers import BertConfig, BertForMaskedLM

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on two texts, the second of them shorter."""
    config = BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    mask = harness.words(2, 10) > 0
    mask[1, 7:] = False
    inputs = {
        "input_ids": harness.words(2, 10),
        "attention_mask": mask.long(),
        "labels": harness.words(2, 10, seed=3),
    }
    return harness.train(place, lambda: BertForMaskedLM(config), inputs)
