"""The first program that people run, unmodified, on a device that runs no CUDA code."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import torch
from absl.testing import absltest


class QuickstartTest(absltest.TestCase):
    def test_it_learns(self) -> None:
        self.assertIn("Fake", torch.cuda.get_device_name())
        program = pathlib.Path("examples/quickstart.py").resolve()
        done = subprocess.run(
            [sys.executable, str(program)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Fake", done.stdout)
        found = re.search(r"first loss ([\d.]+), last loss ([\d.]+)", done.stdout)
        assert found is not None, done.stdout
        self.assertLess(float(found[2]), 0.7 * float(found[1]))


if __name__ == "__main__":
    absltest.main()
