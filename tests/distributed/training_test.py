"""Training in several processes, each with a simulated device, equals training in one."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from tests.distributed import processes

PROGRAMS = pathlib.Path(__file__).with_name("training.py")


class TrainingTest(absltest.TestCase):
    def assert_runs(self, programs: str, size: int, *arguments: str) -> None:
        outcomes = processes.run(PROGRAMS, programs, size, arguments)
        text = processes.describe(outcomes)
        for rank, outcome in enumerate(outcomes):
            self.assertEqual(outcome.code, 0, text)
            self.assertEqual(outcome.out, f"training.py: rank {rank} ran {programs}\n", text)

    def test_data_parallel_fully_sharded_and_pipeline_of_two(self) -> None:
        self.assert_runs("data_parallel,fully_sharded,pipeline", 2)

    def test_mesh_of_two_by_two(self) -> None:
        self.assert_runs("distributed_tensors,fully_sharded_2_and_tensor_parallel", 4)

    def test_checkpoint_of_two_is_loaded_by_three(self) -> None:
        folder = self.create_tempdir().full_path
        self.assert_runs("save_checkpoint", 2, folder)
        self.assert_runs("load_checkpoint", 3, folder)


if __name__ == "__main__":
    absltest.main()
