"""DeBERTa answers questions: attention to contents and to relative positions."""

from __future__ import annotations

from transformers import DebertaV2Config, DebertaV2ForQuestionAnswering

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on two texts."""
    config = DebertaV2Config(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=32,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=8,
        norm_rel_ebd="layer_norm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    inputs = {
        "input_ids": harness.words(2, 10),
        "start_positions": harness.words(2, below=10),
        "end_positions": harness.words(2, below=10, seed=3),
    }
    return harness.train(
        place, lambda: DebertaV2ForQuestionAnswering(config), inputs, optimizer=harness.sgd
    )
