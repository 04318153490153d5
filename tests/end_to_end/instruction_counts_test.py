"""CUDASIM_COUNT counts what the kernels of PyTorch programs execute."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

from absl.testing import absltest

# Two kernels of one name: the first fills memory, the second adds.
_PROGRAM = """
import torch

ones = torch.ones(5000, device="cuda")
ones.add(1).sum().item()
"""


def _environment() -> dict[str, str]:
    """This process's, without what would be at odds with counts."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("CUDASIM_CHECK", "CUDASIM_NATIVE")
    }


@absltest.skipIf(os.environ.get("TORCH_CUDA_SIM") != "1", "counts of the simulated device")
class InstructionCountsTest(absltest.TestCase):
    def _run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={**_environment(), **variables},
            check=False,
            stderr=subprocess.PIPE,
            text=True,
        )

    def test_an_addition_stores_each_number_once(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        done = self._run(CUDASIM_COUNT=str(folder / "counts.%p"))
        self.assertEqual(done.returncode, 0, done.stderr)
        (file,) = folder.iterdir()
        self.assertRegex(file.name, r"^counts\.\d+$")
        stored = 0
        for line in file.read_text(encoding="utf-8").splitlines():
            function, index, opcode, pattern, full, parted, threads = line.split("\t")
            self.assertGreaterEqual(int(index), 0)
            self.assertGreaterEqual(32 * int(full) + 31 * int(parted), int(threads))
            self.assertGreaterEqual(int(threads), 32 * int(full) + int(parted))
            self.assertIn(pattern, {"none", "alike", "consecutive", "strided", "scattered"})
            store = re.fullmatch(r"st\.global(?:\.v(\d))?\.[a-z](\d+)", opcode)
            if store is not None and "CUDAFunctor" in function:
                self.assertEqual((pattern, store[2]), ("consecutive", "32"), line)
                stored += int(threads) * int(store[1] or 1)
        self.assertEqual(stored, 5000)

    def test_a_file_that_cannot_be_written_is_refused(self) -> None:
        done = self._run(CUDASIM_COUNT="/nowhere/counts")
        self.assertNotEqual(done.returncode, 0)
        expected = "CUDASIM_COUNT=/nowhere/counts cannot be written: No such file or directory"
        self.assertIn(expected, done.stderr)

    def test_not_together_with_checks(self) -> None:
        done = self._run(CUDASIM_COUNT="counts", CUDASIM_CHECK="1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("a launch is checked or counted", done.stderr)


if __name__ == "__main__":
    absltest.main()
