"""`CUDASIM_SYNC=1`: the simulated device gives the same bits in each run, atomics included."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest

from absl.testing import absltest

PROGRAM = """
import torch
from tests.end_to_end import training

values = training.train(training.TASKS["transformer"], 4, torch.device("cuda"))
numbers = torch.randn(50000, generator=torch.Generator().manual_seed(1)).cuda()
places = torch.randint(0, 40, (50000,), generator=torch.Generator().manual_seed(2)).cuda()
sums = torch.zeros(40, device="cuda").index_add_(0, places, numbers)
print([value.hex() for value in values], [value.hex() for value in sums.tolist()])
"""


def run_program() -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "CUDASIM_SYNC": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@unittest.skipIf(os.environ.get("TORCH_CUDA_SIM") == "0", "a setting of the simulated device")
class DeterminismTest(absltest.TestCase):
    def test_two_runs_give_the_same_bits(self) -> None:
        first = run_program()
        self.assertIn("0x1.", first)
        self.assertEqual(run_program(), first)


if __name__ == "__main__":
    absltest.main()
