"""Training steps on the simulated device: interpreted, with native code, and on the CPU, in ratios of processor time.

    ./bazelw run //bench/cudasim:training
    ./bazelw run //bench/cudasim:training -- --models lstm,sort --steps 40 --pairs 7
    ./bazelw run //bench/cudasim:training -- --more 8
    ./bazelw run //bench/cudasim:training -- --empty 20

Three processes train the same model, each on one thread, and take their steps in turn. A step is forward, backward and
SGD, the loss read by the host. A process before them leaves native code of all regions in a folder, as an earlier run
of the same program would: what is measured is warm. Losses of both simulated devices have to be the same to the bit.

With `--empty`, one process interprets and the other begins with no native code and CUDASIM_NATIVE=auto: what all its
threads take from the first step on, whatever they compile, is divided by what interpreting takes.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from bench import paired

_MODES = {"interpreted": "off", "native": "always", "CPU": "off"}
_EMPTY_MODES = {"interpreted": "off", "native": "auto"}


def _models(more: int) -> dict[str, Callable[[], tuple[object, Callable[[], object]]]]:
    """Makes of each name a module and its input: small, of the kinds that people train.

    Args:
        more: how many times the usual number of examples a step has.
    """
    import torch
    from torch import nn
    from torch.nn import functional

    class Residual(nn.Module):
        """Two convolutions with batch normalization beside an identity, as in ResNet."""

        def __init__(self, channels: int) -> None:
            super().__init__()
            self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = functional.relu(self.norms[0](self.first(x)))
            z: torch.Tensor = self.norms[1](self.second(y))
            return functional.relu(z + x)

    class Dense(nn.Module):
        """A layer whose output is put behind its input, as in DenseNet."""

        def __init__(self, channels: int, growth: int) -> None:
            super().__init__()
            self.norm = nn.BatchNorm2d(channels)
            self.convolution = nn.Conv2d(channels, growth, 3, padding=1, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, self.convolution(functional.relu(self.norm(x)))], 1)

    class Recurrent(nn.Module):
        """An LSTM's last output."""

        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(32, 64, batch_first=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            last: torch.Tensor = self.lstm(x)[0][:, -1]
            return last

    class Function(nn.Module):
        """A function of a learned scale."""

        def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))
            self.function = function

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.function(x * self.scale)

    def inverted(channels: int) -> nn.Sequential:
        wide = 4 * channels
        return nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, channels, 1, bias=False),
        )

    def images(channels: int) -> torch.Tensor:
        return torch.randn(4 * more, channels, 16, 16)

    return {
        "resnet": lambda: (nn.Sequential(Residual(16), Residual(16)), lambda: images(16)),
        "mobilenet": lambda: (inverted(8), lambda: images(8)),
        "densenet": lambda: (
            nn.Sequential(Dense(8, 8), Dense(16, 8), Dense(24, 8)),
            lambda: images(8),
        ),
        "transformer": lambda: (
            nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True),
            lambda: torch.randn(4 * more, 32, 64),
        ),
        "lstm": lambda: (Recurrent(), lambda: torch.randn(8 * more, 16, 32)),
        "depthwise": lambda: (nn.Conv2d(32, 32, 3, padding=1, groups=32), lambda: images(32)),
        "layer_norm": lambda: (nn.LayerNorm(256), lambda: torch.randn(256 * more, 256)),
        "softmax": lambda: (
            Function(lambda x: x.softmax(-1)),
            lambda: torch.randn(256 * more, 256),
        ),
        "sort": lambda: (
            Function(lambda x: x.sort(-1).values),
            lambda: torch.randn(64 * more, 512),
        ),
        "embedding": lambda: (nn.Embedding(1000, 64), lambda: torch.randint(1000, (32 * more, 64))),
    }


def _work(name: str, device: str, more: int) -> None:
    """Takes as many steps as each line of the input says, and prints their processor time in s, and the loss."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, inputs = _models(more)[name]()
    assert isinstance(model, torch.nn.Module)
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    x = inputs()
    assert isinstance(x, torch.Tensor)
    x = x.to(device)
    value = 0.0
    for line in sys.stdin:
        start = time.process_time()
        for _ in range(int(line)):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            value = loss.item()
        end = time.process_time()
        print("took", end - start, end, value.hex(), flush=True)


class _Worker:
    """A process that trains."""

    def __init__(self, name: str, more: int, native: str, cache: str, device: str = "cuda") -> None:
        """Starts the process.

        Args:
            name: of the model.
            more: how many times the usual number of examples a step has.
            native: value of CUDASIM_NATIVE.
            cache: folder of native code.
            device: cuda or cpu.
        """
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", name, "--device", device, "--more", str(more)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TORCH_CUDA_SIM": "1",
                "CUDASIM_WORKERS": "1",
                "OMP_NUM_THREADS": "1",
                "CUDASIM_NATIVE": native,
                "CUDASIM_NATIVE_CACHE": cache,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
        )
        self.loss = ""
        self.total = 0.0  # processor time of all its threads, in s

    def steps(self, count: int) -> float:
        """Takes steps. Returns their processor time in s."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(count, file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("took "):
                _, seconds, total, self.loss = line.split()
                self.total = float(total)
                return float(seconds)
        raise SystemExit(
            f"The process ended with {self.process.wait()} in the middle of its steps."
        )

    def end(self) -> None:
        """Waits for the end of the process.

        Raises:
            SystemExit: it failed.
        """
        assert self.process.stdin is not None
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit(f"The process ended with {self.process.returncode}.")


def measure(name: str, more: int, steps: int, pairs: int, warm: int) -> tuple[float, float, float]:
    """Prints a model's row.

    Args:
        name: of the model.
        more: how many times the usual number of examples a step has.
        steps: of each reading.
        pairs: readings of each process.
        warm: steps before the first reading.

    Returns:
        interpreted to native, interpreted to CPU, native to CPU.
    """
    with tempfile.TemporaryDirectory() as cache:
        return _measure(name, more, steps, pairs, warm, f"{cache}/native")


def _measure(
    name: str, more: int, steps: int, pairs: int, warm: int, cache: str
) -> tuple[float, float, float]:
    before = _Worker(name, more, _MODES["native"], cache)
    before.steps(warm + (pairs + 1) * steps)
    before.end()
    workers = {
        mode: _Worker(name, more, native, cache, "cpu" if mode == "CPU" else "cuda")
        for mode, native in _MODES.items()
    }
    for worker in workers.values():
        worker.steps(warm)
    interpreted, native = workers["interpreted"], workers["native"]
    readings = paired.interleave(
        lambda: interpreted.steps(steps), lambda: native.steps(steps), pairs
    )
    cpu = min(workers["CPU"].steps(steps) for _ in range(pairs))
    if interpreted.loss != native.loss:
        raise SystemExit(
            f"{name}: native code's loss is {native.loss}, the interpreter's {interpreted.loss}."
        )
    for worker in workers.values():
        worker.end()
    gain = paired.ratios(readings).median
    slow = min(one for one, _ in readings) / cpu
    quick = min(other for _, other in readings) / cpu
    print(
        f"{name:12} {min(one for one, _ in readings) / steps * 1e3:10.2f} ms {gain:8.2f} {slow:10.1f} {quick:10.1f}",
        flush=True,
    )
    return gain, slow, quick


def measure_from_empty(name: str, more: int, steps: int, seconds: float) -> float:
    """Prints a model's row: what the first seconds of a program cost that begins without native code.

    Args:
        name: of the model.
        more: how many times the usual number of examples a step has.
        steps: of each reading.
        seconds: of processor time, for which it is interpreted.

    Returns:
        processor time with CUDASIM_NATIVE=auto to that of interpreting, for the same steps.
    """
    with tempfile.TemporaryDirectory() as cache:
        workers = {
            mode: _Worker(name, more, native, f"{cache}/{mode}")
            for mode, native in _EMPTY_MODES.items()
        }
        begins = {}
        for mode, worker in workers.items():
            worker.steps(0)
            begins[mode] = worker.total
        ratio, worst, overtaken = 1.0, 0.0, None
        spent = dict.fromkeys(workers, 0.0)
        while spent["interpreted"] < seconds:
            for mode, worker in workers.items():
                worker.steps(steps)
                spent[mode] = worker.total - begins[mode]
            ratio = spent["native"] / spent["interpreted"]
            worst = max(worst, ratio)
            if ratio > 1:
                overtaken = None
            elif overtaken is None:
                overtaken = spent["interpreted"]
        for worker in workers.values():
            worker.end()
    after = "never" if overtaken is None else f"after {overtaken:.1f} s"
    print(f"{name:12} {ratio:8.3f} {worst:8.3f}   {after}", flush=True)
    return ratio


def main() -> None:
    """Prints one row a model and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", help="names, with commas between them")
    parser.add_argument("--steps", type=int, default=5, help="of a reading")
    parser.add_argument(
        "--warm",
        type=int,
        default=40,
        help="steps before the first reading, until code is there for lanes that part",
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument(
        "--more", type=int, default=1, help="times the usual number of examples a step"
    )
    parser.add_argument(
        "--empty",
        type=float,
        metavar="SECONDS",
        help="of a run that begins without native code, instead of the warm steps",
    )
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--device", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        _work(options.work, options.device, options.more)
        return
    names = options.models.split(",") if options.models else list(_models(1))
    if options.empty:
        print(f"{'model':12} {'auto':>8} {'at worst':>8}   quicker")
        for name in names:
            measure_from_empty(name, options.more, options.steps, options.empty)
        return
    print(f"{'model':12} {'interpreted':>13} {'gain':>8} {'to CPU':>10} {'native to CPU':>10}")
    rows = [
        measure(name, options.more, options.steps, options.pairs, options.warm) for name in names
    ]
    means = [math.exp(sum(map(math.log, column)) / len(rows)) for column in zip(*rows, strict=True)]
    print(f"{'mean':12} {'':13} {means[0]:8.2f} {means[1]:10.1f} {means[2]:10.1f}")


if __name__ == "__main__":
    main()
