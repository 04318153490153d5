"""Trains small models on CUDA and on the CPU and compares, and checks what training needs of CUDA.

    python3 tools/gpu/training.py [--only amp,graphs] [--steps 10] [--size 1.0]

Prints a JSON line for each check: {check, outcome: right|wrong|error, detail, seconds}.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

_Result = tuple[bool, str]


class Residual(nn.Module):
    """Convolutions with batch norm around which the input goes, too."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of both ways."""
        return torch.relu(x + self.body(x))


class Recurrent(nn.Module):
    """An LSTM and what reads its last step."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(16, 32, num_layers=2, batch_first=True)
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Classes of sequences."""
        return self.head(self.cells(x)[0][:, -1])  # type: ignore[no-any-return]


def convolutional() -> tuple[nn.Module, torch.Tensor]:
    """A small ResNet and its input."""
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        Residual(16),
        nn.MaxPool2d(2),
        Residual(16),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )
    return model, torch.randn(8, 3, 16, 16)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    """An encoder and its input."""
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    model = nn.Sequential(
        nn.Linear(16, 32),
        nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        nn.Flatten(),
        nn.Linear(32 * 12, 10),
    )
    return model, torch.randn(8, 12, 16)


def recurrent() -> tuple[nn.Module, torch.Tensor]:
    """An LSTM and its input."""
    return Recurrent(), torch.randn(8, 12, 16)


def losses(
    make: Callable[[], tuple[nn.Module, torch.Tensor]], device: str, steps: int
) -> list[float]:
    """Trains with Adam; returns the loss of each step."""
    torch.manual_seed(0)
    model, x = make()
    target = torch.arange(len(x)) % 10
    model, x, target = model.to(device), x.to(device), target.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def trains(make: Callable[[], tuple[nn.Module, torch.Tensor]], steps: int) -> _Result:
    """Compares the losses with the CPU's."""
    there, here = losses(make, "cuda", steps), losses(make, "cpu", steps)
    worst = max(abs(one - other) for one, other in zip(there, here, strict=True))
    falls = there[-1] < there[0] or steps < 3
    return worst < 2e-3 and falls, f"losses {there[0]:.5f} to {there[-1]:.5f}, differ {worst:.2e}"


def amp(steps: int) -> _Result:
    """Training in half precision with a scaler, and in bfloat16."""
    details = []
    right = True
    for dtype in (torch.float16, torch.bfloat16):
        torch.manual_seed(0)
        model, x = convolutional()
        model, x = model.cuda(), x.cuda()
        target = torch.arange(8, device="cuda")
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        scaler = torch.amp.GradScaler("cuda", enabled=dtype == torch.float16)  # type: ignore[attr-defined]
        found = []
        for _ in range(steps):
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=dtype):
                loss = nn.functional.cross_entropy(model(x), target)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            found.append(loss.item())
        wanted = losses(convolutional, "cpu", steps)
        worst = max(abs(one - other) for one, other in zip(found, wanted, strict=True))
        right = right and worst < 0.1
        details.append(f"{dtype}: differ {worst:.3f} from float32")
    return right, "; ".join(details)


def graphs(steps: int) -> _Result:
    """A training step that is captured and replayed."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))
    other = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))
    other.load_state_dict(model.state_dict())
    model, other = model.cuda(), other.cuda()
    fixed, target = torch.zeros(8, 16, device="cuda"), torch.zeros(8, 4, device="cuda")
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (model, other)]

    def step(number: int, x: torch.Tensor) -> torch.Tensor:
        optimizers[number].zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss((model, other)[number](x), target)
        loss.backward()
        optimizers[number].step()
        return loss

    batches = [torch.randn(8, 16, device="cuda") for _ in range(steps)]
    state = {name: one.clone() for name, one in model.state_dict().items()}
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(0, fixed)
    torch.cuda.current_stream().wait_stream(stream)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        loss = step(0, fixed)
    model.load_state_dict(state)
    worst = 0.0
    for batch in batches:
        fixed.copy_(batch)
        captured.replay()
        worst = max(worst, abs(loss.item() - step(1, batch).item()))
    return worst < 1e-5, f"losses differ {worst:.2e} from eager"


def streams(size: float) -> _Result:
    """Work of two streams that wait for each other's events, and an event's time."""
    count = int((1 << 22) * size)
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    x = torch.zeros(count, device="cuda")
    torch.cuda.synchronize()
    for _ in range(10):
        with torch.cuda.stream(first):
            begin.record()
            x += 1
            done = first.record_event()
        with torch.cuda.stream(second):
            second.wait_event(done)
            x *= 2
            end.record()
        first.wait_stream(second)
    torch.cuda.synchronize()
    spent = begin.elapsed_time(end)
    wanted = 2.0**11 - 2
    return bool((x == wanted).all()) and spent >= 0, f"{spent:.3f} ms, {x[0].item()}"


def copies(size: float) -> _Result:
    """Pinned copies in both directions, and strided ones."""
    count = int((1 << 24) * size)
    host = torch.arange(count, dtype=torch.int32).pin_memory()
    back = torch.empty_like(host).pin_memory()
    begin = time.perf_counter()
    there = host.cuda(non_blocking=True)
    back.copy_(there + 1, non_blocking=True)
    torch.cuda.synchronize()
    spent = time.perf_counter() - begin
    matrix = torch.arange(12 * 34).reshape(12, 34)
    strided = matrix.cuda().t()[::3].cpu()
    right = torch.equal(back, host + 1) and torch.equal(strided, matrix.t()[::3])
    return right and host.is_pinned(), f"{2 * 4 * count / spent / 1e9:.2f} GB/s with an addition"


def memory(size: float) -> _Result:
    """Memory that runs out, and is there again afterwards."""
    del size
    total = torch.cuda.get_device_properties(0).total_memory
    x = torch.ones(1 << 20, device="cuda")
    held: list[torch.Tensor] = []
    said = ""
    piece = min(4 << 30, max(total // 8, 1 << 20))
    try:
        torch.empty(2 * total, dtype=torch.uint8, device="cuda")
        return False, "twice the memory was allocated"
    except torch.OutOfMemoryError as error:
        said = str(error).splitlines()[0][:120]
    peak = torch.cuda.max_memory_allocated()
    if total <= (200 << 30):
        try:
            for _ in range(total // piece + 2):
                held.append(torch.empty(piece, dtype=torch.uint8, device="cuda"))
            return False, "more than the memory was allocated"
        except torch.OutOfMemoryError:
            peak = torch.cuda.max_memory_allocated()
    held.clear()
    torch.cuda.empty_cache()
    y = x + torch.ones(1 << 20, device="cuda")
    stays = torch.cuda.memory_allocated() < 64 << 20
    return bool(y.sum().item() == 2 << 20) and stays, f"peak {peak >> 20} MiB; {said}"


def random(size: float) -> _Result:
    """Random numbers are reproducible and have their distribution."""
    count = int((1 << 20) * size)
    torch.manual_seed(7)
    one = torch.randn(count, device="cuda")
    torch.manual_seed(7)
    same = torch.equal(one, torch.randn(count, device="cuda"))
    mean, deviation = one.mean().item(), one.std().item()
    near = abs(mean) < 5 / count**0.5 and abs(deviation - 1) < 5 / count**0.5
    return same and near, f"mean {mean:.5f}, deviation {deviation:.5f}"


def products(size: float) -> _Result:
    """Products, solutions and a Fourier transform, against double precision on the CPU."""
    count = max(8, int(512 * size))
    torch.manual_seed(0)
    a, b = torch.randn(count, count), torch.randn(count, count)
    worst = {
        "mm": _error(a.cuda() @ b.cuda(), a.double() @ b.double()),
        "bmm": _error(a[None].cuda() @ b[None].cuda(), a[None].double() @ b[None].double()),
        "half": _error(a.half().cuda() @ b.half().cuda(), a.half().double() @ b.half().double())
        / 100,
        "fft": _error(
            torch.view_as_real(torch.fft.fft(a.cuda())),
            torch.view_as_real(torch.fft.fft(a.double())),
        ),
        "solve": _error(
            torch.linalg.solve((a + count * torch.eye(count)).cuda(), b.cuda()),
            torch.linalg.solve((a + count * torch.eye(count)).double(), b.double()),
        ),
    }
    return max(worst.values()) < 1e-4, ", ".join(f"{k} {v:.1e}" for k, v in worst.items())


def _error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return ((found.cpu().double() - wanted).abs().max() / wanted.abs().max()).item()


def main(command_line: Sequence[str]) -> int:
    """Runs the command; returns 1 where a check is not right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="names of checks, with commas")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--size", type=float, default=1.0, help="a factor of what is large")
    options = parser.parse_args(command_line)
    with contextlib.suppress(ImportError):
        importlib.import_module("torch_cuda")
    steps, size = options.steps, options.size
    checks: dict[str, Callable[[], _Result]] = {
        "random": lambda: random(size),
        "streams": lambda: streams(size),
        "copies": lambda: copies(size),
        "products": lambda: products(size),
        "convolutional": lambda: trains(convolutional, steps),
        "transformer": lambda: trains(transformer, steps),
        "lstm": lambda: trains(recurrent, steps),
        "amp": lambda: amp(steps),
        "graphs": lambda: graphs(steps),
        "memory": lambda: memory(size),
    }
    failed = 0
    for name, check in checks.items():
        if options.only and name not in options.only.split(","):
            continue
        begin = time.perf_counter()
        line: dict[str, Any] = {"check": name}
        try:
            right, line["detail"] = check()
            line["outcome"] = "right" if right else "wrong"
        except Exception as error:  # noqa: BLE001 -- whatever is said is the result
            line["outcome"], line["detail"] = "error", f"{type(error).__name__}: {error}"[:600]
        failed += line["outcome"] != "right"
        line["seconds"] = round(time.perf_counter() - begin, 2)
        print(json.dumps(line), flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
