"""Installs torch_cuda with pip, without and with torch_cuda_sim, and asks for the simulated device.

simulator_test.py TORCH_CUDA_WHEEL TORCH_CUDA_RUNTIME_WHEEL TORCH_CUDA_SIM_WHEEL PYTHON_WITH_TORCH
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import ClassVar

from absl.testing import absltest

from tools.wheel import run_in_venv

PYTHON_WITH_TORCH = pathlib.Path(sys.argv.pop(4))
SIMULATOR = pathlib.Path(sys.argv.pop(3)).absolute()
RUNTIME = pathlib.Path(sys.argv.pop(2)).absolute()
PLUGIN = pathlib.Path(sys.argv.pop(1)).absolute()

_USE = """
import torch
matrix = torch.arange(6.0).view(2, 3)
print(torch.cuda.get_device_name(), (matrix.cuda() @ matrix.t().cuda()).tolist())
"""


def _run(
    python: pathlib.Path, *arguments: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    # Neither the build's folders nor pip's configuration: only what is installed counts.
    theirs = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "PYTHON", "TORCH_CUDA"))
    }
    return subprocess.run(
        [python, *arguments],
        env={**theirs, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def _pip(python: pathlib.Path, *arguments: str) -> None:
    done = _run(python, "-m", "pip", "--disable-pip-version-check", *arguments)
    if done.returncode != 0:
        raise AssertionError(f"pip {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")


class SimulatorTest(absltest.TestCase):
    """One environment, with the simulated device put in and taken out."""

    alone: ClassVar[subprocess.CompletedProcess[str]]
    both: ClassVar[subprocess.CompletedProcess[str]]
    runtime_alone: ClassVar[subprocess.CompletedProcess[str]]
    fake: ClassVar[subprocess.CompletedProcess[str]]
    not_asked_for: ClassVar[subprocess.CompletedProcess[str]]
    added: ClassVar[set[pathlib.Path]]
    left: ClassVar[set[pathlib.Path]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        scratch = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        python, site = run_in_venv.create(scratch / "venv", PYTHON_WITH_TORCH)
        _pip(python, "install", "--no-deps", str(PLUGIN))
        cls.alone = _run(python, "-c", _USE, TORCH_CUDA_SIM="1")
        before = set(site.rglob("*"))
        _pip(python, "install", f"--find-links={RUNTIME.parent}", str(SIMULATOR))
        cls.added = {path.relative_to(site) for path in set(site.rglob("*")) - before}
        cls.both = _run(python, "-c", _USE, TORCH_CUDA_SIM="1")
        cls.not_asked_for = _run(
            python, "-c", "import torch; print(torch.cuda.is_initialized(), torch.ones(2).sum())"
        )
        _pip(python, "uninstall", "--yes", "torch_cuda_sim")
        cls.runtime_alone = _run(python, "-c", _USE, TORCH_CUDA_SIM="1")
        cls.fake = _run(python, "-c", _USE, TORCH_CUDA_DEVICES="fake")
        _pip(python, "uninstall", "--yes", "torch_cuda_runtime")
        cls.left = {path for path in site.rglob("*") if "torch_cuda_" in path.name} - before

    def test_beside_the_plugin_it_computes(self) -> None:
        self.assertEqual(self.both.returncode, 0, self.both.stderr)
        self.assertEqual(self.both.stdout, "cudasim sm_80 [[5.0, 14.0], [14.0, 50.0]]\n")
        self.assertEqual(self.both.stderr, "")

    def test_without_it_the_error_says_what_to_install(self) -> None:
        self.assertNotEqual(self.alone.returncode, 0)
        for done in (self.alone, self.runtime_alone):
            self.assertIn("TORCH_CUDA_SIM=1, but no torch_cuda_sim", done.stderr)
            self.assertIn("pip install torch_cuda_sim", done.stderr)

    def test_other_devices_do_not_need_it(self) -> None:
        self.assertEqual(self.fake.stdout, "Fake device [[5.0, 14.0], [14.0, 50.0]]\n")
        self.assertEqual(self.fake.stderr, "")

    def test_installed_and_not_asked_for_it_changes_nothing(self) -> None:
        self.assertEqual(self.not_asked_for.stdout, "False tensor(2.)\n")
        self.assertEqual(self.not_asked_for.stderr, "")

    def test_it_adds_its_own_package_and_the_runtime(self) -> None:
        self.assertIn(pathlib.Path("torch_cuda_sim/lib/libaccel_sim.so"), self.added)
        self.assertIn(pathlib.Path("torch_cuda_runtime/lib/cu12/libcudart.so.12"), self.added)
        self.assertEqual(
            {path.parts[0].partition("-")[0] for path in self.added},
            {"torch_cuda_runtime", "torch_cuda_runtime.pth", "torch_cuda_sim"},
        )

    def test_uninstalled_nothing_remains(self) -> None:
        self.assertEmpty(self.left)


if __name__ == "__main__":
    absltest.main()
