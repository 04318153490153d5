"""Tests of console.py with a fake of the unpacked wheel."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

from python.console import console


class ConsoleTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.site = self.folder / "site"
        package = self.site / "torch_cuda"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("NAME = 'fake'\n", encoding="utf-8")

    def _run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, console.__file__, *arguments],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_script_runs_with_its_arguments_where_bazel_was_called(self) -> None:
        script = self.folder / "script.py"
        script.write_text(
            "import sys, torch_cuda; print(torch_cuda.NAME, sys.argv)\n", encoding="utf-8"
        )
        done = self._run(
            f"--site={self.site}",
            "--",
            "script.py",
            "--flag",
            BUILD_WORKING_DIRECTORY=str(self.folder),
        )
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, "fake ['script.py', '--flag']\n")

    def test_python_options_go_to_python(self) -> None:
        done = self._run(f"--site={self.site}", "--", "-c", "import torch_cuda as t; print(t.NAME)")
        self.assertEqual(done.stdout, "fake\n")

    def test_processes_that_a_script_starts_have_the_plugin(self) -> None:
        code = (
            "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', 'import torch_cuda; print(torch_cuda.NAME)'])"
        )
        done = self._run(f"--site={self.site}", "--", "-c", code)
        self.assertEqual(done.stdout, "fake\n")

    def test_exit_code_is_the_script_s(self) -> None:
        done = self._run(f"--site={self.site}", "--", "-c", "raise SystemExit(7)")
        self.assertEqual(done.returncode, 7)

    def test_folder_without_the_plugin_is_refused(self) -> None:
        done = self._run(f"--site={self.folder}", "--", "-c", "pass")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("has no torch_cuda", done.stderr)


class EnvironmentTest(absltest.TestCase):
    def test_the_users_path_stays_and_bazels_goes(self) -> None:
        made = console.environment(
            pathlib.Path("/site"),
            {"RUNFILES_DIR": "/run", "PYTHONPATH": "/run/_main:/home/me", "HOME": "/home/me"},
        )
        self.assertEqual(made, {"PYTHONPATH": "/site:/home/me", "HOME": "/home/me"})


if __name__ == "__main__":
    absltest.main()
