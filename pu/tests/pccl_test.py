"""pccl: two processes with a simulated device each."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from tests.distributed import processes

PROGRAMS = pathlib.Path(__file__).with_name("pccl.py")


class PcclTest(absltest.TestCase):
    def assert_done(self, program: str) -> None:
        before = processes.shared_memory()
        outcomes = processes.run(PROGRAMS, program, 2)
        text = processes.describe(outcomes)
        self.assertEqual([outcome.code for outcome in outcomes], [0, 0], text)
        for outcome in outcomes:
            self.assertStartsWith(outcome.out, "done", text)
        self.assertEqual(processes.shared_memory() - before, set())

    def test_collectives(self) -> None:
        self.assert_done("collectives")

    def test_distributed_data_parallel(self) -> None:
        self.assert_done("training")

    def test_destroyed(self) -> None:
        self.assert_done("destroyed")

    def test_destroyed_after_errors(self) -> None:
        self.assert_done("destroyed_after_errors")

    def test_aborted(self) -> None:
        self.assert_done("aborted")

    def test_left(self) -> None:
        self.assert_done("left")


if __name__ == "__main__":
    absltest.main()
