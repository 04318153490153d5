"""accelerate: its Accelerator places model, optimizer, batches and schedule; gradients gather over two batches."""

from __future__ import annotations

import tempfile

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Trains a small network for four batches, writes its state, trains on and goes back."""
    AcceleratorState._reset_state(reset_partial_state=True)
    accelerator = Accelerator(cpu=place.accelerator == "cpu", gradient_accumulation_steps=2)
    set_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3))
    model.to(place.dtype)
    data = TensorDataset(harness.noise(16, 8).to(place.dtype), harness.words(16, below=3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=8)
    model, optimizer, loader, schedule = accelerator.prepare(
        model, optimizer, DataLoader(data, batch_size=4), schedule
    )
    losses = []

    def epoch() -> None:
        for inputs, labels in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(inputs), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            if loss.device.type != place.device.type:
                raise AssertionError(f"the loss is on {loss.device}, not on {place.device}")
            losses.append(accelerator.gather(loss.detach()))

    epoch()
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        epoch()
        accelerator.load_state(folder)
    epoch()
    return {"losses": harness.tensors(losses), **harness.state(accelerator.unwrap_model(model))}
