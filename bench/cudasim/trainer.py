"""A process that trains a model on one thread, a few steps at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping

from bench.cudasim import models


class Trainer:
    """A process that trains."""

    def __init__(
        self, name: str, more: int, variables: Mapping[str, str], device: str = "cuda"
    ) -> None:
        """Starts the process.

        Args:
            name: of the model.
            more: how many times the usual number of examples a step has.
            variables: of its environment, besides those of the simulated device on one thread.
            device: cuda or cpu.
        """
        self.process = subprocess.Popen(
            [sys.executable, __file__, name, device, str(more)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TORCH_CUDA_SIM": "1",
                "CUDASIM_WORKERS": "1",
                "OMP_NUM_THREADS": "1",
                **variables,
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


def _work(name: str, device: str, more: int) -> None:
    """Takes as many steps as each line of the input says, and prints their processor time in s, and the loss."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, inputs = models.models(more)[name]()
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


if __name__ == "__main__":
    _work(sys.argv[1], sys.argv[2], int(sys.argv[3]))
