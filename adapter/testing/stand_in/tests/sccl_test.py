"""sccl: two processes with a device of the stand-in each."""

from __future__ import annotations

import pathlib

from absl.testing import absltest, parameterized

from tests.distributed import processes

PROGRAMS = pathlib.Path(__file__).with_name("sccl.py")


class ScclTest(parameterized.TestCase):
    @parameterized.product(
        program=("collectives", "training"), device=("count=2", "count=2,hidden=1")
    )
    def test_two_processes(self, program: str, device: str) -> None:
        outcomes = processes.run(PROGRAMS, program, 2, extra={"TORCH_STAND_IN_DEVICE": device})
        text = processes.describe(outcomes)
        self.assertEqual([outcome.code for outcome in outcomes], [0, 0], text)
        for outcome in outcomes:
            self.assertStartsWith(outcome.out, "done", text)


if __name__ == "__main__":
    absltest.main()
