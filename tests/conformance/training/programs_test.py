"""Random programs do what the model says. CONFORMANCE_PROGRAMS says how many, CONFORMANCE_SEED repeats one."""

from __future__ import annotations

import os
import random

import torch
from absl.testing import absltest

from tests.conformance.training import program


class ProgramsTest(absltest.TestCase):
    def test_they_do_what_the_model_says(self) -> None:
        seed = os.environ.get("CONFORMANCE_SEED")
        count = 1 if seed else int(os.environ.get("CONFORMANCE_PROGRAMS", "300"))
        first = int(seed) if seed else random.SystemRandom().randrange(2**32)
        print(f"{count} programs from seed {first}", flush=True)
        torch.cuda.init()
        for number in range(first, first + count):
            try:
                program.Program(number).run()
            except Exception as wrong:
                wrong.add_note(f"to repeat it: CONFORMANCE_SEED={number}")
                raise

    def test_the_model_finds_what_is_wrong(self) -> None:
        # Otherwise the test above could not fail.
        one = program.Program(1)
        one.check(one.buffers[0])
        one.buffers[0].tensor[0].add_(1)
        with self.assertRaisesRegex(AssertionError, "1 of .* bytes differ"):
            one.check(one.buffers[0])


if __name__ == "__main__":
    absltest.main()
