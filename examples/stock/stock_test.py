"""Which steps the example takes, and which it need not take again."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from absl.testing import absltest

from examples.stock import stock


class PrepareTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        scratch = pathlib.Path(self.create_tempdir().full_path)
        self.folder = scratch / "environment"
        self.wheel = scratch / "some.whl"
        self.wheel.write_bytes(b"one")
        self.commands: list[str] = []

    def run_command(self, command: Sequence[str]) -> None:
        if "venv" in command:
            (self.folder / "bin").mkdir(parents=True)
            (self.folder / "bin" / "python3").touch()
        self.commands.append(" ".join(command))
        if f"torch=={stock.TORCH}" in command and self.interrupted:
            raise KeyboardInterrupt

    interrupted = False

    def prepare(self) -> list[str]:
        self.commands.clear()
        python = stock.prepare(self.folder, [self.wheel], self.run_command)
        self.assertEqual(python, self.folder / "bin" / "python3")
        return list(self.commands)

    def test_everything_at_first_and_nothing_again(self) -> None:
        made, torch, wheels = self.prepare()
        self.assertIn(f"venv --without-pip {self.folder}", made)
        self.assertIn("install --no-deps --only-binary=:all: torch==", torch)
        self.assertNotIn("nvidia", torch)
        self.assertIn(f"--force-reinstall --no-index {self.wheel}", wheels)
        self.assertEqual(self.prepare(), [])

    def test_other_wheels_are_installed_again(self) -> None:
        self.prepare()
        self.wheel.write_bytes(b"two")
        self.assertLen(self.prepare(), 1)

    def test_what_was_interrupted_starts_anew(self) -> None:
        self.interrupted = True
        with self.assertRaises(KeyboardInterrupt):
            self.prepare()
        self.interrupted = False
        self.assertLen(self.prepare(), 3)


if __name__ == "__main__":
    absltest.main()
