"""A CUDA program like any other: a small convolutional network learns to tell bars from crosses.

Nothing in it knows what kind of device it runs on.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn


def pictures(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Noisy pictures of 12 x 12: a row, a column, a cross.

    Args:
      count: how many.
      generator: what chooses them.

    Returns:
      The pictures, (count, 1, 12, 12), and their classes, (count,).
    """
    images = 0.3 * torch.randn(count, 1, 12, 12, generator=generator)
    classes = torch.randint(3, (count,), generator=generator)
    places = torch.randint(12, (count,), generator=generator)
    for image, kind, place in zip(images, classes.tolist(), places.tolist(), strict=True):
        if kind in (0, 2):
            image[0, place] += 1
        if kind in (1, 2):
            image[0, :, place] += 1
    return images, classes


def main() -> None:
    """Trains and prints the loss of each step."""
    parser = argparse.ArgumentParser(description="Train a small network.")
    parser.add_argument("--steps", type=int, default=30)
    steps = parser.parse_args().steps
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 6 * 6, 3),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(1, steps + 1):
        images, classes = (tensor.to(device) for tensor in pictures(16, generator))
        loss = nn.functional.cross_entropy(model(images), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.9f}", flush=True)


if __name__ == "__main__":
    main()
