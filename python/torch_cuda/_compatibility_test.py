"""Which GPUs the kernels of a build run on."""

from __future__ import annotations

from absl.testing import absltest

from torch_cuda import _compatibility


class RunsOnTest(absltest.TestCase):
    def test_ptx_runs_on_every_gpu_that_is_not_older(self) -> None:
        for capability, expected in (((8, 0), True), ((9, 0), True), ((7, 5), False)):
            self.assertEqual(_compatibility.runs_on(["compute_80"], capability), expected)

    def test_machine_code_runs_within_its_major_version(self) -> None:
        for capability, expected in (
            ((8, 6), True),
            ((8, 9), True),
            ((8, 0), False),
            ((9, 0), False),
        ):
            self.assertEqual(_compatibility.runs_on(["sm_86"], capability), expected, capability)

    def test_one_that_fits_is_enough(self) -> None:
        self.assertTrue(_compatibility.runs_on(["sm_70", "compute_90"], (9, 0)))

    def test_what_is_no_architecture_counts_for_nothing(self) -> None:
        self.assertFalse(_compatibility.runs_on(["", "gfx90a"], (9, 0)))


if __name__ == "__main__":
    absltest.main()
