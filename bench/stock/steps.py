"""Training steps and a small addition, on the CPU and on cuda:0; run by stock.py in an environment with torch.

steps.py times PAIRS
steps.py memory MODEL DEVICE
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional


class _Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet() -> tuple[nn.Module, torch.Tensor]:
    """ResNet-18's layers (He et al.), and eight pictures of 64 x 64."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [_Block(inputs, outputs, stride), _Block(outputs, outputs, 1)]
        inputs = outputs
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]
    return nn.Sequential(*layers), torch.randn(8, 3, 64, 64)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    """Four layers of an encoder, of width 256, and eight sequences of 64."""
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    return nn.TransformerEncoder(layer, 4), torch.randn(8, 64, 256)


class _Recurrent(nn.Module):
    """An LSTM of two layers, whose outputs are what is learnt."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.LSTM(64, 128, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs: torch.Tensor = self.body(x)[0]
        return outputs


def lstm() -> tuple[nn.Module, torch.Tensor]:
    """An LSTM of two layers of width 128, and 32 sequences of 16."""
    return _Recurrent(), torch.randn(32, 16, 64)


MODELS = {"resnet": resnet, "transformer": transformer, "lstm": lstm}


def step_of(model: str, device: str) -> Callable[[], None]:
    """A training step that ends when the device is done."""
    torch.manual_seed(0)
    module, inputs = MODELS[model]()
    module, inputs = module.to(device), inputs.to(device)
    optimizer = torch.optim.AdamW(module.parameters())

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss = module(inputs).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of the process, of all its threads."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compare(name: str, cuda: Callable[[], object], cpu: Callable[[], object], pairs: int) -> None:
    """Prints medians of readings in turns, and the median of their ratios."""
    for work in (cuda, cpu) * 3:
        work()
    readings = [
        (cpu_seconds(cuda), cpu_seconds(cpu))
        if pair % 2
        else tuple(reversed((cpu_seconds(cpu), cpu_seconds(cuda))))
        for pair in range(pairs)
    ]
    on_cuda, on_cpu = (statistics.median(side) for side in zip(*readings, strict=True))
    ratio = statistics.median(one / other for one, other in readings)
    print(
        f"{name}: {on_cuda * 1e3:.3f} ms on the device, {on_cpu * 1e3:.3f} ms on the CPU, ratio {ratio:.3f}",
        flush=True,
    )


def additions(device: str, count: int) -> Callable[[], None]:
    """Additions of four numbers."""
    one, other = torch.ones(4, device=device), torch.ones(4, device=device)

    def work() -> None:
        for _ in range(count):
            torch.add(one, other)
        if device != "cpu":
            torch.cuda.synchronize()

    return work


def main() -> int:
    """Runs what the command line says.

    Returns:
        0.
    """
    torch.set_num_threads(1)
    if sys.argv[1] == "memory":
        step = step_of(sys.argv[2], sys.argv[3])
        for _ in range(5):
            step()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return 0
    pairs = int(sys.argv[2])
    for model in MODELS:
        compare(f"{model}, a step", step_of(model, "cuda"), step_of(model, "cpu"), pairs)
    compare("1,000 small additions", additions("cuda", 1000), additions("cpu", 1000), pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
