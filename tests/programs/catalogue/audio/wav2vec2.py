"""wav2vec 2.0 learns letters by connectionist temporal classification."""

from __future__ import annotations

from transformers import Wav2Vec2Config, Wav2Vec2ForCTC

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two sounds."""
    config = Wav2Vec2Config(
        vocab_size=12,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        conv_dim=(16, 16, 16),
        conv_stride=(4, 2, 2),
        conv_kernel=(8, 3, 3),
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=4,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        feat_proj_dropout=0.0,
        final_dropout=0.0,
        layerdrop=0.0,
        apply_spec_augment=False,
        ctc_loss_reduction="mean",
    )
    inputs = {"input_values": harness.noise(2, 320), "labels": harness.words(2, 5, below=12)}
    return harness.train(place, lambda: Wav2Vec2ForCTC(config), inputs)
