"""Lightning's Trainer trains, validates, writes a checkpoint and goes on from it."""

from __future__ import annotations

import logging
import pathlib
import tempfile
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from tests.programs import harness


class _Module(lightning.LightningModule):
    """A small network."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)
        )
        self.losses: list[Tensor] = []

    def training_step(self, batch: list[Tensor], index: int) -> Tensor:
        loss = nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
        self.losses.append(loss.detach())
        self.log("loss", loss)
        return loss

    def validation_step(self, batch: list[Tensor], index: int) -> None:
        found = self.layers(batch[0])
        self.log("validation", nn.functional.cross_entropy(found, batch[1]))

    def configure_optimizers(self) -> dict[str, Any]:
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
        return {"optimizer": optimizer, "lr_scheduler": schedule}


def run(place: harness.Place) -> harness.Results:
    """Trains for two epochs, and for a third one from the checkpoint."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(0, verbose=False)
    data = TensorDataset(harness.noise(12, 8).to(place.dtype), harness.words(12, below=3))
    loader = DataLoader(data, batch_size=4)
    module = _Module()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        common: dict[str, Any] = {
            "accelerator": place.accelerator,
            "devices": 1,
            "precision": "64-true" if place.dtype == torch.float64 else "32-true",
            "logger": False,
            "enable_progress_bar": False,
            "enable_model_summary": False,
            "gradient_clip_val": 1.0,
            "default_root_dir": folder,
        }
        trainer = lightning.Trainer(max_epochs=2, enable_checkpointing=False, **common)
        trainer.fit(module, loader, loader)
        if trainer.strategy.root_device.type != place.device.type:
            raise AssertionError(f"it trained on {trainer.strategy.root_device}")
        checkpoint = pathlib.Path(folder) / "two.ckpt"
        trainer.save_checkpoint(checkpoint)
        again = lightning.Trainer(max_epochs=3, enable_checkpointing=False, **common)
        again.fit(module, loader, ckpt_path=checkpoint)
        found = dict(again.validate(module, loader, verbose=False)[0])
    return {
        "losses": harness.tensors(module.losses),
        "validation": [torch.tensor(list(found.values()))],
        **harness.state(module),
    }
