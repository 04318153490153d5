"""A training step on the simulated device while it is profiled, and while it is not, as a ratio over paired readings.

    ./bazelw run //bench:profiled_step -- --pairs 15
    ./bazelw run //bench:profiled_step -- --clock cpu      on a machine that others use as well

The step is that of a small CNN: forward, backward, AdamW, the loss read by the host. Each reading is the time of some
steps between two synchronisations, or the processors' time of all threads in between; beginning and ending a profile, and reading its records, is not in it.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import time
from collections.abc import Callable, Sequence

os.environ.setdefault("TORCH_CUDA_SIM", "1")

import torch
from torch.profiler import ProfilerActivity, profile

from bench import paired

_CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

_ACTIVITIES = {
    "CPU and CUDA": (ProfilerActivity.CPU, ProfilerActivity.CUDA),
    "CUDA": (ProfilerActivity.CUDA,),
    "CPU": (ProfilerActivity.CPU,),
}


class Training:
    """A CNN and its optimizer."""

    def __init__(self, batch: int) -> None:
        torch.manual_seed(0)
        self._model = torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3, padding=1),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(8, 16, 3, padding=1),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(16 * 7 * 7, 10),
        ).cuda()
        self._optimizer = torch.optim.AdamW(self._model.parameters())
        self._images = torch.randn(batch, 1, 28, 28)
        self._labels = torch.randint(10, (batch,))

    def step(self) -> float:
        """Trains on one batch and gives its loss."""
        self._optimizer.zero_grad()
        logits = self._model(self._images.cuda())
        loss = torch.nn.functional.cross_entropy(logits, self._labels.cuda())
        loss.backward()
        self._optimizer.step()
        return loss.item()


def read(
    training: Training,
    steps: int,
    activities: Sequence[ProfilerActivity],
    clock: Callable[[], float],
) -> float:
    """Seconds of some steps; profiled unless there are no activities."""
    profiler = profile(activities=list(activities)) if activities else contextlib.nullcontext()
    with profiler:
        torch.cuda.synchronize()
        start = clock()
        for _ in range(steps):
            training.step()
        torch.cuda.synchronize()
        return clock() - start


def main() -> None:
    """Prints a line for each set of activities."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--clock", choices=_CLOCKS, default="wall")
    options = parser.parse_args()
    clock = _CLOCKS[options.clock]
    training = Training(options.batch)
    training.step()
    with profile(activities=list(_ACTIVITIES["CPU and CUDA"])) as profiler:
        training.step()
    kernels = sum(event.device_type.name == "CUDA" for event in profiler.events())
    seconds = read(training, options.steps, (), clock) / options.steps
    print(f"a step: {seconds * 1000:.1f} ms, {kernels} kernels, copies and fills")
    for name, activities in _ACTIVITIES.items():
        readings = paired.interleave(
            functools.partial(read, training, options.steps, activities, clock),
            functools.partial(read, training, options.steps, (), clock),
            options.pairs,
        )
        print(f"profiled ({name}) to not profiled: {paired.ratios(readings)}")


if __name__ == "__main__":
    main()
