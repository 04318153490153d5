"""Trains a small image classifier on `cuda:0`, on a GPU or on the simulated device.

    ./bazelw run //examples:quickstart                          # here, on the simulated device
    TORCH_CUDA_SIM=1 python examples/quickstart.py              # with the two wheels installed
    python examples/quickstart.py --epochs 2                    # on a real GPU

There is nothing of torch_cuda in this file: it is a PyTorch program for CUDA as everybody writes
them.
"""

from __future__ import annotations

import argparse
import sys
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

SIDE = 12  # pixels
CLASSES = 4


def pictures(count: int, seed: int = 0) -> TensorDataset:
    """Noisy pictures with one bright spot; the class is the quarter of the picture that has it.

    Args:
        count: number of pictures.
        seed: the same seed gives the same pictures.
    """
    generator = torch.Generator().manual_seed(seed)
    images = 0.3 * torch.rand(count, 1, SIDE, SIDE, generator=generator)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    half = SIDE // 2
    within = torch.randint(1, half - 2, (count, 2), generator=generator)
    for image, label, (row, column) in zip(images, labels.tolist(), within.tolist(), strict=True):
        top, left = row + half * (label // 2), column + half * (label % 2)
        image[0, top : top + 3, left : left + 3] += 0.7
    return TensorDataset(images, labels)


class Classifier(nn.Module):
    """Two convolutions with batch norm and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Linear(16 * 9, 32), nn.GELU(), nn.Linear(32, CLASSES))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores of the classes, of shape (batch, CLASSES), for images (batch, 1, SIDE, SIDE)."""
        scores: torch.Tensor = self.head(self.features(images).flatten(1))
        return scores


def train(device: torch.device, epochs: int, count: int) -> list[float]:
    """Trains with automatic mixed precision.

    Args:
        device: where.
        epochs: passes over the pictures.
        count: number of pictures.

    Returns:
        The loss of each step.
    """
    torch.manual_seed(0)
    model = Classifier().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scaler = torch.GradScaler(device.type)
    loader = DataLoader(pictures(count), batch_size=32, shuffle=True, pin_memory=True)
    losses: list[float] = []
    for _ in range(epochs):
        for images, labels in loader:
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            with torch.autocast(device.type, dtype=torch.float16):
                loss = functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
            show_progress(len(losses), epochs * len(loader), losses[-1])
    return losses


def show_progress(step: int, steps: int, loss: float) -> None:
    """Draws the progress bar anew, over the one before."""
    filled = 30 * step // steps
    bar = "#" * filled + "." * (30 - filled)
    end = "\n" if step == steps else "\r"
    print(f"[{bar}] step {step}/{steps}, loss {loss:.4f}", end=end, flush=True)


def main() -> None:
    """Reads the arguments, trains and tells the first and the last loss."""
    parser = argparse.ArgumentParser(description="Trains a small image classifier on cuda:0.")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=256)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit(
            "found no CUDA device; needed a GPU with its driver, or the simulated device: "
            "install the wheels torch_cuda_runtime and torch_cuda_sim, and set TORCH_CUDA_SIM=1"
        )
    device = torch.device("cuda:0")
    print(f"{torch.cuda.get_device_name(device)}, torch {torch.__version__}")
    begin = time.perf_counter()
    losses = train(device, options.epochs, options.pictures)
    seconds = time.perf_counter() - begin
    print(f"first loss {losses[0]:.4f}, last loss {losses[-1]:.4f}, {seconds:.1f} s")


if __name__ == "__main__":
    main()
