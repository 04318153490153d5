"""RPC that is profiled with CUDA's times: torch_cuda_distributed beside torch_cuda_profiler."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from tests.distributed import processes

SCRIPT = pathlib.Path(__file__).with_name("rpc.py")


class RpcProfileTest(absltest.TestCase):
    def test_between_two(self) -> None:
        outcomes = processes.run(SCRIPT, "profiled", 2)
        self.assertEqual(
            [outcome.code for outcome in outcomes], [0, 0], processes.describe(outcomes)
        )


if __name__ == "__main__":
    absltest.main()
