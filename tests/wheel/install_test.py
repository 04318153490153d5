"""Installs the wheel with pip over the stock torch, uses it, uninstalls it: nothing may remain.

install_test.py WHEEL PYTHON_WITH_TORCH
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, ClassVar

from absl.testing import absltest

from tools.wheel import run_in_venv

PYTHON_WITH_TORCH = pathlib.Path(sys.argv.pop(2))
WHEEL = pathlib.Path(sys.argv.pop(1)).absolute()

_USE = """
import importlib.metadata, importlib.util, json, torch
print(json.dumps({
    "compiled": torch.cuda._is_compiled(),
    "cuda": torch.version.cuda,
    "bindings": hasattr(torch.cuda, "_CUDAC"),
    "package": importlib.util.find_spec("torch_cuda") is not None,
    "entry_points": [
        entry.name for entry in importlib.metadata.entry_points(group="torch.backends")
    ],
    "product": (torch.full((2, 3), 2.0) @ torch.ones(3, 2)).sum().item(),
    "torch": torch.__file__,
}))
"""


@dataclasses.dataclass(frozen=True)
class Use:
    """What one fresh process that imports torch saw and said.

    Attributes:
        facts: what _USE prints.
        complaints: its standard error.
    """

    facts: dict[str, Any]
    complaints: str


def _use(python: pathlib.Path) -> Use:
    done = subprocess.run([python, "-c", _USE], check=True, capture_output=True, text=True)
    return Use(json.loads(done.stdout), done.stderr)


def _pip(python: pathlib.Path, *arguments: str, may_fail: bool = False) -> str:
    # No index, no configuration: the wheel and the stock torch are all there is.
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", *arguments],
        env={**theirs, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and not may_fail:
        raise AssertionError(f"pip {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _files(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _fingerprint(folder: pathlib.Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


class InstallTest(absltest.TestCase):
    """One installation, looked at from all sides."""

    fresh: ClassVar[Use]
    installed: ClassVar[Use]
    uninstalled: ClassVar[Use]
    files: ClassVar[list[set[str]]]
    torch_files: ClassVar[list[dict[str, tuple[int, int]]]]
    listed: ClassVar[str]
    checked: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        scratch = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        python, site = run_in_venv.create(scratch / "venv", PYTHON_WITH_TORCH)
        cls.fresh = _use(python)
        torch_folder = pathlib.Path(cls.fresh.facts["torch"]).parent

        cls.files = [_files(scratch)]
        cls.torch_files = [_fingerprint(torch_folder)]
        # Without dependencies, because those of torch itself are not our business: Debian's torch
        # asks for a sympy that Debian does not have. `pip check` then tells about ours.
        _pip(python, "install", "--no-deps", str(WHEEL))
        cls.files.append(_files(site))
        cls.listed = _pip(python, "list", "--format=freeze").replace("torch-cuda", "torch_cuda")
        cls.checked = _pip(python, "check", may_fail=True).replace("torch-cuda", "torch_cuda")
        cls.installed = _use(python)
        _pip(python, "uninstall", "--yes", "torch_cuda")
        cls.uninstalled = _use(python)
        cls.files.append(_files(scratch))
        cls.torch_files.append(_fingerprint(torch_folder))

    def test_before_it_torch_is_cpu_only(self) -> None:
        self.assertFalse(self.fresh.facts["compiled"])
        self.assertIsNone(self.fresh.facts["cuda"])

    def test_pip_installs_it_beside_torch(self) -> None:
        self.assertIn("torch_cuda/lib/libtorch_cuda.so", self.files[1])
        self.assertEmpty([path for path in self.files[1] if path.startswith("torch/")])
        self.assertIn("torch_cuda==", self.listed)

    def test_the_stock_torch_satisfies_its_requirements(self) -> None:
        self.assertNotEmpty(self.checked)
        self.assertNotIn("torch_cuda ", self.checked)

    def test_with_it_torch_has_cuda(self) -> None:
        self.assertTrue(self.installed.facts["compiled"])
        self.assertTrue(self.installed.facts["bindings"])
        self.assertIsNotNone(self.installed.facts["cuda"])
        self.assertEqual(self.installed.facts["entry_points"], ["torch_cuda"])
        self.assertEqual(self.installed.facts["product"], 24.0)

    def test_activation_is_silent(self) -> None:
        self.assertEqual(self.installed.complaints, "")

    def test_it_is_the_same_torch(self) -> None:
        self.assertEqual(self.installed.facts["torch"], self.fresh.facts["torch"])

    def test_without_it_torch_is_as_before(self) -> None:
        self.assertEqual(self.uninstalled, self.fresh)

    def test_no_file_remains(self) -> None:
        self.assertEqual(self.files[2] ^ self.files[0], set())

    def test_no_file_of_torch_changed(self) -> None:
        self.assertEqual(self.torch_files[1], self.torch_files[0])


if __name__ == "__main__":
    absltest.main()
