"""The first program of README.md, held against the same on the CPU.

TORCH_CUDA_SIM=1 python tests/stock/first_program_test.py README.md
"""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import runpy
import sys
import tempfile
import unittest
from unittest import mock

import torch


def printed(program: str) -> list[str]:
    """Runs a program.

    Args:
        program: its source.

    Returns:
        The words that it prints.
    """
    draw = torch.randn

    def drawn(*size: int, device: str) -> torch.Tensor:
        # A device's generator is another one than the CPU's, which the model's weights come from.
        return draw(*size, generator=torch.Generator().manual_seed(1)).to(device)

    output = io.StringIO()
    torch.manual_seed(0)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(output),
        mock.patch.object(torch, "randn", drawn),
    ):
        file = pathlib.Path(folder) / "train.py"
        file.write_text(program)
        runpy.run_path(str(file), run_name="__main__")
    return output.getvalue().split()


class FirstProgramTest(unittest.TestCase):
    readme: pathlib.Path

    def test_its_loss_is_the_cpus(self) -> None:
        found = re.search(
            r"^```python\n(.*?)^```$", self.readme.read_text(), re.MULTILINE | re.DOTALL
        )
        assert found is not None
        program = found[1]
        self.assertIn('"cuda"', program)
        *name, loss = printed(program)
        self.assertEqual(" ".join(name), torch.cuda.get_device_name())
        expected = float(printed(program.replace('"cuda"', '"cpu"'))[-1])
        self.assertGreater(expected, 0)
        self.assertAlmostEqual(float(loss), expected, delta=1e-5 * expected)
        # The program has used the device.
        self.assertGreater(torch.cuda.max_memory_allocated(), 512 * 64 * 4)


if __name__ == "__main__":
    FirstProgramTest.readme = pathlib.Path(sys.argv.pop(1))
    unittest.main()
