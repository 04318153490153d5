"""CUDASIM_CHECK=1 reports nothing of the libraries' own tests, which read only what they have written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

# Each word of memory that nobody has written has a number of its own, by its address. Among the 17 million ones of these
# tests one may lie where its number is 1.0: one run in some hundred.
_FILTER = "-*LongDotProducts*"
_PROGRAMS = [Path(name).absolute() for name in sys.argv[1:] if not name.startswith("-")]


class FalseReportsTest(absltest.TestCase):
    def test_programs_that_read_what_they_wrote(self) -> None:
        self.assertNotEmpty(_PROGRAMS)
        for program in _PROGRAMS:
            with self.subTest(program.name):
                done = subprocess.run(
                    [str(program)],
                    env={
                        **os.environ,
                        "CUDASIM_CHECK": "1",
                        "CUDASIM_DEVICES": "4",
                        "GTEST_FILTER": _FILTER,
                    },
                    capture_output=True,
                    check=False,
                    text=True,
                )
                self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
                found = [line for line in done.stderr.splitlines() if "Uninitialized" in line]
                self.assertEqual(found, [])


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
