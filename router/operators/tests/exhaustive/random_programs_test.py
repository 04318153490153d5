"""Random programs on a device that runs no CUDA code are the CPU's, number for number.

This command runs more of them:
./bazelw run //router/operators/tests/exhaustive:random_programs_test -- --first 0 --programs 100000
"""

from __future__ import annotations

import sys

from absl import flags
from absl.testing import absltest

from router.operators.tests.exhaustive import random_programs

_FIRST = flags.DEFINE_integer("first", 0, "the first program's number")
_PROGRAMS = flags.DEFINE_integer("programs", 1500, "how many programs to run")
_PROGRESS = 10000  # programs


class RandomProgramsTest(absltest.TestCase):
    def test_each_step_is_the_cpus(self) -> None:
        steps = 0
        for seed in range(_FIRST.value, _FIRST.value + _PROGRAMS.value):
            with self.subTest(seed):
                steps += random_programs.run(seed)
            if (seed + 1) % _PROGRESS == 0:
                print(f"{seed + 1} programs, {steps} steps", file=sys.stderr, flush=True)
        # Programs that end at once would prove nothing.
        self.assertGreater(steps, 5 * _PROGRAMS.value)


if __name__ == "__main__":
    absltest.main()
