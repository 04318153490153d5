"""Mixtral: each word goes through two of four experts."""

from __future__ import annotations

import torch
from transformers import MixtralConfig, MixtralForCausalLM

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains, with the loss of the router."""
    config = MixtralConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_local_experts=4,
        num_experts_per_tok=2,
        output_router_logits=True,
        max_position_embeddings=32,
        # transformers' product of all experts at once, where it has that, is not for float64. Older versions pass over this.
        experts_implementation="eager" if place.dtype == torch.float64 else None,
    )
    texts = harness.words(2, 8)
    inputs = {"input_ids": texts, "labels": texts}
    return harness.train(place, lambda: MixtralForCausalLM(config), inputs)
