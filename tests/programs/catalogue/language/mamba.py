"""Mamba: a selective state space, in transformers' own Python."""

from __future__ import annotations

from transformers import MambaConfig, MambaForCausalLM

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains on two texts."""
    config = MambaConfig(
        vocab_size=64, hidden_size=16, state_size=4, num_hidden_layers=2, use_cache=False
    )
    texts = harness.words(2, 8)
    inputs = {"input_ids": texts, "labels": texts}
    return harness.train(place, lambda: MambaForCausalLM(config), inputs)
