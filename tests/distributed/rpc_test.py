"""RPC between processes whose tensors are on devices: with device maps, through TensorPipe's staged channels."""

from __future__ import annotations

import pathlib

from absl.testing import absltest, parameterized

from tests.distributed import processes

SCRIPT = pathlib.Path(__file__).with_name("rpc.py")
ALIVE = ("tensors", "streams", "crowd", "autograd", "references", "errors", "unmapped", "empty")


class RpcTest(parameterized.TestCase):
    @parameterized.parameters(*ALIVE)
    def test_between_two(self, program: str) -> None:
        outcomes = processes.run(SCRIPT, program, 2)
        self.assertEqual(
            [outcome.code for outcome in outcomes], [0, 0], processes.describe(outcomes)
        )

    def test_the_other_s_death_is_an_error(self) -> None:
        survivor, dead = processes.run(SCRIPT, "killed", 2)
        self.assertEqual((survivor.code, dead.code), (0, -9), processes.describe([survivor, dead]))


if __name__ == "__main__":
    absltest.main()
