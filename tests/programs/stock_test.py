"""What is installed for a run on PyPI's torch, and with which variables programs start."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence

from absl.testing import absltest

from tests.programs import stock


class InstallTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.commands: list[Sequence[str]] = []

    def install(self) -> None:
        stock.install(self.folder, self.folder / "bin" / "python3", self.commands.append)

    def test_packages_come_once_and_without_what_torch_requires(self) -> None:
        self.install()
        self.install()
        ((*_, listed),) = self.commands
        self.assertIn("--no-deps", self.commands[0])
        self.assertIn(str(self.folder / "bin" / "python3"), self.commands[0])
        lines = pathlib.Path(listed).read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if not line.startswith("#")]
        self.assertNotEmpty(packages)
        for package in packages:
            self.assertRegex(package, r"^[a-z0-9-]+==[0-9][0-9a-z.]*$")
            self.assertNotRegex(package, re.compile("^(torch|triton|nvidia-.*)=="))

    def test_another_list_is_installed(self) -> None:
        self.install()
        (self.folder / "programs.done").write_text("of another list")
        self.install()
        self.assertLen(self.commands, 2)


class EnvironmentTest(absltest.TestCase):
    def test_bazels_variables_are_left_out(self) -> None:
        found = stock.environment({"RUNFILES_DIR": "a", "BUILD_WORKSPACE_DIRECTORY": "b", "C": "d"})
        self.assertNotIn("RUNFILES_DIR", found)
        self.assertNotIn("BUILD_WORKSPACE_DIRECTORY", found)
        self.assertEqual(found["C"], "d")

    def test_devices_that_are_named_are_taken(self) -> None:
        self.assertEqual(stock.environment({})["TORCH_CUDA_SIM"], "1")
        found = stock.environment({"TORCH_CUDA_DEVICES": "fake"})
        self.assertEqual(found["TORCH_CUDA_DEVICES"], "fake")
        self.assertNotIn("TORCH_CUDA_SIM", found)


if __name__ == "__main__":
    absltest.main()
