"""What tests of a setup.py have in common: a folder, and Python in it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest


class SetupPyTestCase(absltest.TestCase):
    """A test with a folder, for a setup.py and its sources.

    Attributes:
        folder: of this test alone.
    """

    def setUp(self) -> None:
        """Makes the folder."""
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def run_python(self, *arguments: str) -> str:
        """Runs the interpreter of the test, which has torch and the plugin, in the folder; returns what it prints.

        Args:
            *arguments: such as `setup.py`, `build_ext`. It has to succeed.
        """
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "TORCH_CUDA_ARCH_LIST": "8.0+PTX",
                "MAX_JOBS": "2",
                # Bazel keeps the current folder off Python's path (PYTHONSAFEPATH).
                "PYTHONPATH": os.pathsep.join(
                    [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
                ),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout
