"""torch_pu beside a torch without CUDA, where torch_cuda is not installed."""

from __future__ import annotations

from absl.testing import absltest

from tests.device_behaviour import programs


class AloneTest(absltest.TestCase):
    def test_says_what_is_missing(self) -> None:
        done = programs.run("import torch_pu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("which has no CUDA, and no torch_cuda; needed a torch with CUDA", done.stderr)
        self.assertIn("(2.9, 2.12, 2.15 from PyPI), or torch_cuda 2.6.0", done.stderr)
        self.assertIn("python -m pip install torch_cuda==", done.stderr)

    def test_torch_is_as_it_was(self) -> None:
        self.assertEqual(
            programs.output("import torch; print(hasattr(torch, 'pu'), torch.ones(1).item())"),
            "False 1.0",
        )


if __name__ == "__main__":
    absltest.main()
