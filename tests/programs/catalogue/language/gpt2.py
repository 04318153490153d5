"""GPT-2 is trained on two texts, and continues one."""

from __future__ import annotations

from transformers import GPT2Config, GPT2LMHeadModel

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def run(place: harness.Place) -> harness.Results:
    """Trains, and generates with a new model."""
    config = GPT2Config(
        vocab_size=64,
        n_positions=32,
        n_embd=32,
        n_layer=2,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=1,
        eos_token_id=2,
    )
    texts = harness.words(2, 10)
    inputs = {"input_ids": texts, "labels": texts}
    results = harness.train(place, lambda: GPT2LMHeadModel(config), inputs)
    continued = harness.generate(place, lambda: GPT2LMHeadModel(config), harness.words(1, 5))
    return {**results, **harness.named("generated", continued)}
