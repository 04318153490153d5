"""Small models and one way to train them, the same on every device."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

BATCH = 16
CLASSES = 4


@dataclasses.dataclass(frozen=True)
class Task:
    """A model with data that it can learn.

    Attributes:
      model: makes the model, on the CPU.
      inputs: shape of one input.
      tokens: size of the vocabulary for inputs that are indices, 0 for numbers.
    """

    model: Callable[[], nn.Module]
    inputs: tuple[int, ...]
    tokens: int = 0

    def data(self, batches: int) -> TensorDataset:
        """Inputs with labels that follow from them, the same at each call.

        Args:
          batches: how many batches of `BATCH` inputs.
        """
        generator = torch.Generator().manual_seed(1)
        shape = (batches * BATCH, *self.inputs)
        if self.tokens:
            inputs = torch.randint(self.tokens, shape, generator=generator)
            return TensorDataset(inputs, inputs[:, 0] % CLASSES)
        inputs = torch.randn(shape, generator=generator)
        labels = torch.randint(CLASSES, shape[:1], generator=generator)
        parts = inputs.flatten(1).unflatten(1, (CLASSES, -1))
        parts[torch.arange(len(labels)), labels] += 1.5
        return TensorDataset(inputs, labels)


def mlp() -> nn.Module:
    """Three linear layers with layer norm."""
    return nn.Sequential(
        nn.Linear(16, 32),
        nn.LayerNorm(32),
        nn.ReLU(),
        nn.Linear(32, 32),
        nn.Tanh(),
        nn.Linear(32, CLASSES),
    )


def cnn() -> nn.Module:
    """Convolutions with batch norm and pooling, and a linear layer."""
    return nn.Sequential(
        nn.Conv2d(2, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, padding=1, groups=2),
        nn.SiLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32, CLASSES),
    )


class Transformer(nn.Module):
    """Embedding, one encoder layer (multi-head attention, feed forward), a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(24, 16)
        self.position = nn.Parameter(torch.randn(6, 16) * 0.1)
        self.encoder = nn.TransformerEncoderLayer(
            16, 2, dim_feedforward=32, dropout=0.0, batch_first=True
        )
        self.head = nn.Linear(16, CLASSES)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of the classes, (batch, CLASSES), for tokens (batch, 6)."""
        scores: torch.Tensor = self.head(self.encoder(self.embedding(tokens) + self.position)[:, 0])
        return scores


TASKS = {
    "mlp": Task(mlp, (16,)),
    "cnn": Task(cnn, (2, 8, 8)),
    "transformer": Task(Transformer, (6,), tokens=24),
}


def batches(
    task: Task, steps: int, device: torch.device
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The batches of a training on a device, through pinned memory where that is a GPU."""
    pin = device.type == "cuda"
    for inputs, labels in DataLoader(task.data(steps), batch_size=BATCH, pin_memory=pin):
        yield inputs.to(device, non_blocking=pin), labels.to(device, non_blocking=pin)


def train(task: Task, steps: int, device: torch.device) -> list[float]:
    """Trains in float32 with Adam.

    Returns:
      The loss of each step.
    """
    torch.manual_seed(0)
    model = task.model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for inputs, labels in batches(task, steps, device):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def train_mixed(task: Task, steps: int, device: torch.device, dtype: torch.dtype) -> list[float]:
    """Trains with autocast and a gradient scaler.

    Args:
      task: what is learned.
      steps: how many.
      device: where.
      dtype: of autocast.

    Returns:
      The loss of each step.
    """
    torch.manual_seed(0)
    model = task.model().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=5e-2, momentum=0.9)
    scaler = torch.GradScaler(device.type, init_scale=2.0**10, enabled=device.type == "cuda")
    losses = []
    for inputs, labels in batches(task, steps, device):
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype=dtype):
            loss = functional.cross_entropy(model(inputs), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


def train_graphed(task: Task, steps: int, device: torch.device) -> list[float]:
    """Trains with the whole step, optimizer included, captured into one CUDA graph.

    Returns:
      The loss of each step.
    """
    torch.manual_seed(0)
    model = task.model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, capturable=True)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    every = list(batches(task, steps, device))
    inputs, labels = (tensor.clone() for tensor in every[0])

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss

    # Warm-up on another stream makes the optimizer's state and cuBLAS's handle before the capture.
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()

    # Back to the beginning: the warm-up trained already.
    with torch.no_grad():
        model.load_state_dict(start)
        for state in optimizer.state.values():
            for value in state.values():
                value.zero_()
    losses = []
    for batch_inputs, batch_labels in every:
        inputs.copy_(batch_inputs)
        labels.copy_(batch_labels)
        graph.replay()
        losses.append(captured.item())
    return losses
