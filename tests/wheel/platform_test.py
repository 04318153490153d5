"""The wheels that need neither Python's nor torch's ABI run where their tag says: asked of auditwheel.

platform_test.py WHEEL…
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

from absl.testing import absltest, parameterized

WHEELS = [pathlib.Path(wheel).absolute() for wheel in sys.argv[1:]]
del sys.argv[1:]

PLATFORM = "manylinux_2_28_x86_64"
# What auditwheel says may be older still.
_FOUND = re.compile(r'platform\s+tag:\s+"manylinux_2_(\d+)_x86_64"')


class PlatformTest(parameterized.TestCase):
    @parameterized.parameters(*WHEELS)
    def test_auditwheel_says_what_the_tag_says(self, wheel: pathlib.Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "auditwheel", "show", wheel],
            env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        found = _FOUND.search(done.stdout)
        assert found is not None, done.stdout
        self.assertLessEqual(int(found[1]), 28, done.stdout)
        self.assertEndsWith(wheel.name, f"-py3-none-{PLATFORM}.whl")


if __name__ == "__main__":
    absltest.main()
