"""Collectives of two and three processes, each with a simulated device, against gloo's answers."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from tests.distributed import processes

PROGRAMS = pathlib.Path(__file__).with_name("collectives.py")


class CollectivesTest(absltest.TestCase):
    def assert_compared(self, program: str, size: int, at_least: int) -> None:
        before = processes.shared_memory()
        outcomes = processes.run(PROGRAMS, program, size)
        text = processes.describe(outcomes)
        self.assertEqual([outcome.code for outcome in outcomes], [0] * size, text)
        for rank, outcome in enumerate(outcomes):
            self.assertStartsWith(outcome.out, f"rank {rank} compared ", text)
            self.assertGreaterEqual(int(outcome.out.split()[-1]), at_least, text)
        self.assertEqual(processes.shared_memory() - before, set())

    def test_every_collective_of_two(self) -> None:
        self.assert_compared("every_collective", 2, 200)

    def test_groups_of_some_of_three(self) -> None:
        self.assert_compared("groups_of_some", 3, 4)

    def test_random_sequence_of_three(self) -> None:
        # Rank 0 is not in the group of some.
        self.assert_compared("random_sequence", 3, 90)


if __name__ == "__main__":
    absltest.main()
