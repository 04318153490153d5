"""peft: low-rank additions to a GPT-2 are trained, written, read and merged."""

from __future__ import annotations

import tempfile

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

from tests.programs import harness

TOLERANCES = harness.FLOAT32_INSIDE


def _base(place: harness.Place) -> torch.nn.Module:
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=64,
        n_positions=32,
        n_embd=32,
        n_layer=2,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    model: torch.nn.Module = place.put(GPT2LMHeadModel(config))
    return model


def run(place: harness.Place) -> harness.Results:
    """Trains the additions, and compares the model with that which is read back and merged."""
    config = LoraConfig(
        r=4,
        target_modules=["c_attn", "c_proj"],
        fan_in_fan_out=True,
        use_dora=True,
        task_type="CAUSAL_LM",
    )
    # Additions are made in float32.
    model = place.put(get_peft_model(_base(place), config, autocast_adapter_dtype=False))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    texts = place.put(harness.words(2, 8))
    losses = []
    for _ in range(3):
        loss = model(input_ids=texts, labels=texts).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        model.save_pretrained(folder)
        read = PeftModel.from_pretrained(
            _base(place), folder, torch_device=str(place.device), autocast_adapter_dtype=False
        )
        merged = place.put(read).merge_and_unload()
        outputs = [found(input_ids=texts).logits for found in (model.eval(), merged.eval())]
    return {
        "losses": harness.tensors(losses),
        "outputs": harness.tensors(outputs),
        "parameters": harness.tensors(trained),
        "gradients": [p.grad.detach().cpu() for p in trained if p.grad is not None],
    }
