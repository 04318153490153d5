"""torch_cuda_profiler without torch_cuda: it says what to install, and torch works."""

from __future__ import annotations

from absl.testing import absltest

from tests.device_behaviour import programs

_PROFILE = """
    import torch
    with torch.profiler.profile() as profiler:
        torch.ones(4).add(1)
    print(any(row.key == "aten::add" for row in profiler.key_averages()))
"""


class AloneTest(absltest.TestCase):
    def test_it_says_what_to_install(self) -> None:
        done = programs.run(_PROFILE)
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)
        self.assertEqual(done.stderr.count("Warning"), 1, done.stderr)
        self.assertIn("python -m pip install torch_cuda\n", done.stderr)

    def test_warnings_as_errors_do_not_take_torch_away(self) -> None:
        done = programs.run(_PROFILE, PYTHONWARNINGS="error::UserWarning")
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)
        self.assertIn("python -m pip install torch_cuda\n", done.stderr)


if __name__ == "__main__":
    absltest.main()
