"""Which steps the example takes, and which it need not take again."""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Sequence
from unittest import mock

from absl.testing import absltest

from examples.stock import stock
from tools.stock_torch import environments, triton


class PrepareTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        scratch = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.dict(os.environ, {"TORCH_CUDA_CACHE": str(scratch)}))
        # An environment with torch is a download of 540 MB; this Python stands for it.
        self.enter_context(
            mock.patch.object(environments, "with_torch", return_value=pathlib.Path(sys.executable))
        )
        self.wheel = scratch / "some.whl"
        self.wheel.write_bytes(b"one")
        self.installed: list[str] = []

    def run_command(self, command: Sequence[str]) -> None:
        if "install" in command:
            self.installed.append(" ".join(command))
        else:
            environments.run(command)

    def prepare(self, packages: tuple[str, ...] = ()) -> list[str]:
        self.installed.clear()
        stock.prepare([self.wheel], packages, self.run_command)
        return list(self.installed)

    def test_everything_at_first_and_nothing_again(self) -> None:
        (wheels,) = self.prepare()
        self.assertIn(f"--no-index {self.wheel}", wheels)
        self.assertEqual(self.prepare(), [])

    def test_other_wheels_are_installed_again(self) -> None:
        self.prepare()
        self.wheel.write_bytes(b"two")
        self.assertLen(self.prepare(), 1)

    def test_packages_stay_when_wheels_change(self) -> None:
        with mock.patch.object(triton, "requirements", return_value=["triton~=3.9.0"]):
            packages, _ = self.prepare(("triton",))
            self.assertIn("--only-binary=:all: triton~=3.9.0", packages)
            self.wheel.write_bytes(b"two")
            self.assertLen(self.prepare(("triton",)), 1)


class CheckVersionTest(absltest.TestCase):
    def test_a_torch_without_a_router_is_refused_by_name(self) -> None:
        stock.check_version("2.15.0", ["2.15"])
        stock.check_version("2.9.1", ["2.9", "2.15"])
        with self.assertRaisesRegex(SystemExit, r"2\.12\.1.*2\.15.*every_version"):
            stock.check_version("2.12.1", ["2.15"])


if __name__ == "__main__":
    absltest.main()
