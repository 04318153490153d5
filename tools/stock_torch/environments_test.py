"""Which commands make an environment, and which programs see what is in it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from unittest import mock

from absl.testing import absltest

from tools.stock_torch import environments


class WithTorchTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cache = self.create_tempdir().full_path
        self.enter_context(mock.patch.dict(os.environ, {"TORCH_CUDA_CACHE": self.cache}))
        self.commands: list[str] = []
        self.interrupted = False

    def run_command(self, command: Sequence[str]) -> None:
        if "venv" in command:
            (pathlib.Path(command[-1]) / "bin").mkdir(parents=True)
            (pathlib.Path(command[-1]) / "bin" / "python3").touch()
        self.commands.append(" ".join(command))
        if self.interrupted and "install" in command:
            raise KeyboardInterrupt

    def prepare(self, version: str) -> list[str]:
        self.commands.clear()
        python = environments.with_torch(version, self.run_command)
        self.assertEqual(python, environments.cache_folder(version) / "bin" / "python3")
        return list(self.commands)

    def test_a_version_is_downloaded_once(self) -> None:
        made, torch = self.prepare("2.15.0")
        self.assertIn("venv --without-pip", made)
        self.assertIn("--only-binary=:all: torch==2.15.0", torch)
        self.assertNotIn("nvidia", torch)
        self.assertEqual(self.prepare("2.15.0"), [])
        self.assertLen(self.prepare("2.12.1"), 2)

    def test_what_was_interrupted_starts_anew(self) -> None:
        self.interrupted = True
        with self.assertRaises(KeyboardInterrupt):
            self.prepare("2.15.0")
        self.interrupted = False
        self.assertLen(self.prepare("2.15.0"), 2)

    def test_an_environment_of_the_user_s_is_taken_as_it_is(self) -> None:
        python = environments.with_torch(sys.executable, self.run_command)
        self.assertEqual((str(python), self.commands), (sys.executable, []))
        with self.assertRaisesRegex(environments.PreparationError, "/nowhere/python"):
            environments.with_torch("/nowhere/python", self.run_command)

    def test_a_command_that_fails_is_said(self) -> None:
        with self.assertRaisesRegex(environments.PreparationError, "exit status 3"):
            environments.run([sys.executable, "-c", "raise SystemExit(3)"])


class AboveTest(absltest.TestCase):
    def wheel(self, folder: pathlib.Path, name: str) -> pathlib.Path:
        file = folder / f"{name}-1-py3-none-any.whl"
        with zipfile.ZipFile(file, "w") as archive:
            info = f"{name}-1.dist-info"
            archive.writestr(f"{name}.py", "WHERE = __file__\n")
            archive.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
            )
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        return file

    def test_both_s_packages_are_seen_and_nothing_gets_below(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        below = environments.above(
            pathlib.Path(sys.executable), folder / "below", [self.wheel(folder, "lower")]
        )
        python = environments.above(below, folder / "above", [self.wheel(folder, "upper")])
        program = "import lower, upper; print(lower.WHERE); print(upper.WHERE)"
        out = subprocess.run(
            [python, "-I", "-c", program], check=True, capture_output=True, text=True
        ).stdout.split()
        self.assertStartsWith(out[0], str(folder / "below"))
        self.assertStartsWith(out[1], str(folder / "above"))
        done = subprocess.run([below, "-I", "-c", "import upper"], check=False, capture_output=True)
        self.assertNotEqual(done.returncode, 0)

    def test_what_is_kept_is_made_again_for_other_wheels_only(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        commands: list[str] = []

        def run(command: Sequence[str]) -> None:
            commands.append(" ".join(command))
            environments.run(command)

        def keep(wheel: pathlib.Path) -> pathlib.Path:
            commands.clear()
            return environments.kept(
                pathlib.Path(sys.executable), folder / "kept", [wheel], run=run
            )

        wheel = self.wheel(folder, "one")
        python = keep(wheel)
        self.assertLen(commands, 2)
        self.assertEqual((keep(wheel), commands), (python, []))
        keep(self.wheel(folder, "other"))
        subprocess.run([python, "-I", "-c", "import other"], check=True)
        done = subprocess.run([python, "-I", "-c", "import one"], check=False, capture_output=True)
        self.assertNotEqual(done.returncode, 0)

    def test_what_was_interrupted_is_made_again(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)

        def interrupted(command: Sequence[str]) -> None:
            if "install" in command:
                raise KeyboardInterrupt
            environments.run(command)

        arguments = (pathlib.Path(sys.executable), folder / "kept", [self.wheel(folder, "one")])
        with self.assertRaises(KeyboardInterrupt):
            environments.kept(*arguments, run=interrupted)
        subprocess.run([environments.kept(*arguments), "-I", "-c", "import one"], check=True)

    def test_three_above_each_other(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        python = pathlib.Path(sys.executable)
        for name in ("one", "two", "three"):
            python = environments.above(python, folder / name, [self.wheel(folder, name)])
        subprocess.run([python, "-I", "-c", "import one, two, three"], check=True)


if __name__ == "__main__":
    absltest.main()
