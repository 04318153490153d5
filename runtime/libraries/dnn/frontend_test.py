"""NVIDIA's cudnn-frontend on the simulated device: what it makes graphs of, compared with numpy.

Fetches the frontend from PyPI, so that it is run by name. The libraries are put into one folder, as in a wheel.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

_PACKAGES = ("numpy==2.3.5", "nvidia-cudnn-frontend==1.32.0")
_PROGRAM = pathlib.Path(__file__).with_name("frontend_program.py")


def libraries(folder: pathlib.Path) -> pathlib.Path:
    """Links each library of the arguments into one folder.

    Args:
        folder: it becomes this one.
    """
    folder.mkdir()
    for path in os.environ["LIBRARIES"].split():
        (folder / pathlib.Path(path).name).symlink_to(pathlib.Path(path).absolute())
    return folder


class FrontendTest(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    errors: dict[str, float]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        site = root / "site"
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            + [f"--target={site}", *_PACKAGES],
            check=True,
        )
        found = libraries(root / "lib")
        device = next(path for path in found.iterdir() if path.name == "libaccel_sim.so")
        done = subprocess.run(
            [sys.executable, str(_PROGRAM)],
            env={
                # The build root has NVIDIA's of CUDA 12 besides.
                "CUDNN_FRONTEND_CUDART_LIB_NAME": "libcudart.so.13",
                "LD_LIBRARY_PATH": str(found),
                "PYTHONPATH": str(site),
                "TORCH_CUDA_DEVICES": str(device),
            },
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        cls.errors = json.loads(done.stdout.splitlines()[-1])

    def test_a_convolution_has_a_bias_and_an_activation(self) -> None:
        self.assertLess(self.errors["convolution"], 1e-4)

    def test_layers_are_normalized(self) -> None:
        self.assertLess(self.errors["layer"], 1e-4)

    def test_attention_is_masked(self) -> None:
        self.assertLess(self.errors["attention"], 5e-3)

    def test_attention_has_gradients_for_groups_of_heads(self) -> None:
        self.assertLess(self.errors["gradients"], 2e-2)


if __name__ == "__main__":
    unittest.main()
