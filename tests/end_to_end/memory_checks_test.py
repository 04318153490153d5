"""CUDASIM_CHECK=1 finds uninitialised reads of PyTorch programs, and nothing in correct ones."""

from __future__ import annotations

import os
import subprocess
import sys

from absl.testing import absltest

# Kernels that use shared memory, warp shuffles and atomics, PyTorch's own and CUB's.
_CORRECT = """
import torch

torch.manual_seed(0)
values = torch.randn(5000, device="cuda")
matrix = values.view(50, 100)
values.sum(), values.cumsum(0), values.sort(), values.topk(10), values.softmax(0)
matrix.argmax(1), matrix.std(0), torch.histc(values, 10), (values > 0).nonzero()
torch.unique(values.round()), torch.randperm(3000, device="cuda")
matrix.requires_grad_()
torch.nn.functional.layer_norm(matrix @ matrix.T, (50,)).sum().backward()
torch.cuda.synchronize()
"""

_UNINITIALIZED = """
import torch

torch.empty(1000, device="cuda").abs()
torch.cuda.synchronize()
"""


def _errors_of(program: str, check: str) -> str:
    """Runs a program with CUDASIM_CHECK; returns what it wrote to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CUDASIM_CHECK": check},
        check=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    return done.stderr


@absltest.skipIf(os.environ.get("TORCH_CUDA_SIM") != "1", "checks of the simulated device")
class MemoryChecksTest(absltest.TestCase):
    def test_read_of_fresh_memory_is_reported_with_its_kernel(self) -> None:
        errors = _errors_of(_UNINITIALIZED, check="1")
        self.assertRegex(errors, r"cudasim: Uninitialized read of \d+ bytes of global memory")
        self.assertIn("vectorized_elementwise_kernel", errors)
        self.assertIn("by thread (", errors)

    def test_nothing_is_reported_without_the_switch(self) -> None:
        self.assertNotIn("cudasim:", _errors_of(_UNINITIALIZED, check="0"))

    def test_correct_programs_have_no_findings(self) -> None:
        self.assertNotIn("cudasim:", _errors_of(_CORRECT, check="1"))


if __name__ == "__main__":
    absltest.main()
