"""SegFormer says what each pixel is."""

from __future__ import annotations

from transformers import SegformerConfig, SegformerForSemanticSegmentation

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains on two pictures."""
    config = SegformerConfig(
        num_encoder_blocks=2,
        depths=[1, 1],
        sr_ratios=[2, 1],
        hidden_sizes=[8, 16],
        patch_sizes=[3, 3],
        strides=[2, 2],
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
        decoder_hidden_size=16,
        drop_path_rate=0.0,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        classifier_dropout_prob=0.0,
        num_labels=4,
    )
    inputs = {
        "pixel_values": harness.noise(2, 3, 16, 16),
        "labels": harness.words(2, 16, 16, below=4),
    }
    return harness.train(
        place, lambda: SegformerForSemanticSegmentation(config), inputs, optimizer=harness.sgd
    )
