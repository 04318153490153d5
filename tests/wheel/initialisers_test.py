"""Static initialisers run in the order in which upstream links its units, and are undone in the reverse one.

Units depend on it: at the end of a process, what collects tensors that were shared with other processes asks a function
that an earlier unit has set, and takes away again.

Argument: upstream's units in order, one a line.
"""

from __future__ import annotations

import os
import pathlib
import sys

from absl.testing import absltest

from tests.wheel import elf

LIBRARY = pathlib.Path(os.environ["TORCH_CUDA_TEST_SITE"]) / "torch_cuda/lib/libtorch_cuda.so"

UNITS = pathlib.Path(sys.argv.pop(1)).read_text(encoding="utf-8").splitlines()
NAMES = [pathlib.PurePosixPath(unit).name for unit in UNITS]


class InitialisersTest(absltest.TestCase):
    def test_they_are_in_upstreams_order(self) -> None:
        found = elf.initialisers(LIBRARY)
        if not found:
            self.skipTest(
                f"{LIBRARY.name} is stripped: it does not say what its initialisers are of"
            )
        found = [name for name in found if name in NAMES]
        self.assertGreater(len(found), 100)
        # Each in turn is at the place of the last one, or behind it.
        rest = iter(NAMES)
        last = "the first unit"
        for name in found:
            self.assertIn(name, rest, f"{name} comes before {last} in upstream's lists")
            last = name

    def test_what_is_not_upstreams_comes_first(self) -> None:
        """It stands for units of libtorch_cpu, which is loaded before."""
        found = elf.initialisers(LIBRARY)
        if not found:
            self.skipTest("stripped")
        strangers = [name not in NAMES for name in found]
        self.assertEqual(strangers, sorted(strangers, reverse=True))


if __name__ == "__main__":
    absltest.main()
