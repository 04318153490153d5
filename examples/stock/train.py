"""Trains a small network on the CPU and on `cuda:0`, and prints the losses side by side.

There is nothing of torch_cuda in this file: it is a PyTorch program for CUDA as everybody writes
them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional

STEPS = 20


def losses(device: str) -> Iterator[float]:
    """Trains anew.

    Args:
        device: where.

    Yields:
        The loss of each step.
    """
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 6 * 6, 32),
        nn.GELU(),
        nn.Linear(32, 4),
    )
    images = torch.rand(64, 1, 12, 12)
    labels = torch.randint(4, (64,))
    model, images, labels = model.to(device), images.to(device), labels.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(STEPS):
        loss = functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main() -> int:
    """Prints a table.

    Returns:
        1 where there is no device, or the two train differently.
    """
    if not torch.cuda.is_available():
        print("found no CUDA device; python -m torch_cuda_runtime doctor says why", file=sys.stderr)
        return 1
    name = torch.cuda.get_device_name(0)
    print(f"torch {torch.__version__} from {torch.__path__[0]}, cuda:0 is {name}")
    print(f"{'step':>4}  {'cpu':>9}  {'cuda:0':>9}")
    begin = time.perf_counter()
    largest = 0.0
    for step, (cpu, cuda) in enumerate(zip(losses("cpu"), losses("cuda:0"), strict=True), start=1):
        print(f"{step:>4}  {cpu:>9.6f}  {cuda:>9.6f}", flush=True)
        largest = max(largest, abs(cpu - cuda))
    seconds = time.perf_counter() - begin
    print(f"largest difference {largest:.1e}, {seconds:.1f} s")
    return 0 if largest < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
