"""transformers' Trainer trains and evaluates a classifier of texts, and writes checkpoints."""

from __future__ import annotations

import tempfile

import torch
from accelerate.state import AcceleratorState
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    Trainer,
    TrainingArguments,
)

from tests.programs import harness


class _Texts(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Eight texts with a class each."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        if index >= len(self):
            raise IndexError(index)
        return {"input_ids": harness.words(6, seed=index), "labels": torch.tensor(index % 3)}


def run(place: harness.Place) -> harness.Results:
    """Trains for one epoch, evaluates and predicts."""
    AcceleratorState._reset_state(reset_partial_state=True)
    torch.manual_seed(0)
    config = DistilBertConfig(
        vocab_size=64,
        dim=32,
        hidden_dim=48,
        n_layers=2,
        n_heads=4,
        max_position_embeddings=16,
        dropout=0.0,
        attention_dropout=0.0,
        seq_classif_dropout=0.0,
        num_labels=3,
    )
    model = DistilBertForSequenceClassification(config).to(place.dtype)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model,
            TrainingArguments(
                folder,
                use_cpu=place.accelerator == "cpu",
                num_train_epochs=1,
                per_device_train_batch_size=4,
                gradient_accumulation_steps=1,
                learning_rate=1e-3,
                warmup_steps=1,
                label_smoothing_factor=0.1,
                report_to=[],
                disable_tqdm=True,
                save_steps=1,
                logging_steps=1,
                seed=3,
            ),
            train_dataset=_Texts(),
            eval_dataset=_Texts(),
        )
        trainer.train()
        if model.device.type != place.device.type:
            raise AssertionError(f"it trained on {model.device}, not on {place.device}")
        evaluated = trainer.evaluate()["eval_loss"]
        predicted = torch.from_numpy(trainer.predict(_Texts()).predictions)
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return {
        # Rounded to four digits by the Trainer.
        "logged": [torch.tensor(losses)],
        "evaluated": [torch.tensor(evaluated)],
        "predicted": [predicted],
        "parameters": harness.tensors(list(model.parameters())),
    }
