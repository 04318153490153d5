"""Small models, each trained for a few steps in the same way on any device."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

STEPS = 4


def cnn(device: str) -> list[float]:
    """Convolutions, one of them in groups, batch norm, pooling and dropout; Adam."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1, groups=4),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(256, 10),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)

    def step() -> torch.Tensor:
        pictures = torch.randn(8, 3, 16, 16, device=device)
        labels = torch.randint(0, 10, (8,), device=device)
        return functional.cross_entropy(model(pictures), labels)

    return _train(step, optimizer)


def transformer(device: str) -> list[float]:
    """Embedding and two encoder layers with dropout and a causal mask; AdamW, clipped gradients."""
    torch.manual_seed(0)
    embedding = nn.Embedding(50, 32)
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2)
    head = nn.Linear(32, 50)
    model = nn.ModuleList([embedding, encoder, head]).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    mask = nn.Transformer.generate_square_subsequent_mask(12, device=torch.device(device))

    def step() -> torch.Tensor:
        tokens = torch.randint(0, 50, (4, 12), device=device)
        scores = head(encoder(embedding(tokens), mask=mask))
        return functional.cross_entropy(scores.flatten(0, 1), tokens.flatten())

    return _train(step, optimizer, lambda: nn.utils.clip_grad_norm_(model.parameters(), 1.0))


def recurrent(device: str, kind: Callable[..., nn.Module] = nn.LSTM) -> list[float]:
    """Two recurrent layers with dropout between them; SGD with momentum."""
    torch.manual_seed(0)
    network = kind(8, 16, 2, batch_first=True, dropout=0.2)
    head = nn.Linear(16, 1)
    model = nn.ModuleList([network, head]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step() -> torch.Tensor:
        sequence = torch.randn(4, 7, 8, device=device)
        output, _ = network(sequence)
        guess: torch.Tensor = head(output[:, -1])[:, 0]
        return (guess - sequence.mean((1, 2))).square().mean()

    return _train(step, optimizer)


def gru(device: str) -> list[float]:
    """`recurrent` with GRUs."""
    return recurrent(device, nn.GRU)


def mixed_precision(device: str, dtype: torch.dtype = torch.bfloat16) -> list[float]:
    """Autocast, and a gradient scaler that has to skip a step; SGD."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 10)
    ).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2, momentum=0.9)
    scaler = torch.GradScaler(device, init_scale=2.0**8)
    torch.manual_seed(1)  # the model's numbers came from the host's generator
    losses = []
    for number in range(STEPS):
        pictures = torch.randn(8, 3, 16, 16, device=device)
        labels = torch.randint(0, 10, (8,), device=device)
        optimizer.zero_grad()
        with torch.autocast(device, dtype):
            scores = model(pictures)
        # Outside of autocast, whose lists differ here between the devices.
        loss = functional.cross_entropy(scores.float(), labels)
        scaled = scaler.scale(loss)
        (scaled * float("inf") if number == 1 else scaled).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return [*losses, scaler.get_scale()]


def half_precision(device: str) -> list[float]:
    """`mixed_precision` with float16."""
    return mixed_precision(device, torch.float16)


def _train(
    step: Callable[[], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    clip: Callable[[], object] = lambda: None,
) -> list[float]:
    torch.manual_seed(1)  # the model's numbers came from the host's generator
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = step()
        loss.backward()
        clip()
        optimizer.step()
        losses.append(loss.item())
    return losses
