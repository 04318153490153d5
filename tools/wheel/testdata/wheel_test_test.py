"""Tests of the macro wheel_test: the test runs in an environment of its own."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

SITE = pathlib.Path(os.environ["TORCH_CUDA_TEST_SITE"])


class WheelTestTest(absltest.TestCase):
    def test_runs_in_the_environment(self) -> None:
        self.assertEqual(sys.executable, os.environ["TORCH_CUDA_TEST_PYTHON"])
        self.assertNotEqual(sys.prefix, sys.base_prefix)
        spec = importlib.util.find_spec("torch_cuda_sample")
        assert spec is not None and spec.origin is not None
        self.assertEqual(pathlib.Path(spec.origin).parent.parent, SITE)

    def test_fresh_process_sees_the_plugin_and_the_stock_torch(self) -> None:
        code = "import torch, torch_cuda_sample as s; print(s.loaded_by_torch, torch.__file__)"
        printed = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout.split()
        self.assertEqual(printed[0], "True")
        self.assertNotIn(str(SITE), printed[1])

    def test_installation_may_be_damaged(self) -> None:
        (SITE / "torch_cuda_sample" / "lib" / "libsample.so").write_bytes(b"")
        failed = subprocess.run(
            [sys.executable, "-c", "import torch_cuda_sample as s; s.answer()"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("libsample.so", failed.stderr)


if __name__ == "__main__":
    absltest.main()
