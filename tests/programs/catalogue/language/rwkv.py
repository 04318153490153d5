"""RWKV: a recurrent network that is trained like a transformer; transformers compiles a CUDA kernel for it."""

from __future__ import annotations

import torch
from transformers import RwkvConfig, RwkvForCausalLM

from tests.programs import harness

# The kernel takes nothing else.
TYPES = (torch.float32,)


def run(place: harness.Place) -> harness.Results:
    """Trains on one text: the kernel writes gradients of each text, and transformers has room for one's."""
    config = RwkvConfig(
        vocab_size=64, context_length=16, hidden_size=16, num_hidden_layers=2, use_cache=False
    )
    texts = harness.words(1, 8)
    inputs = {"input_ids": texts, "labels": texts}
    return harness.train(place, lambda: RwkvForCausalLM(config), inputs)
