"""What tests of torch's topics have in common."""

from __future__ import annotations

import sys
import unittest
from typing import NoReturn

from absl.testing import absltest


class TopicTest(absltest.TestCase):
    """Tests of one topic; the report says why one was skipped."""

    def skipTest(self, reason: str) -> NoReturn:
        """Skips the test that runs.

        absltest's XML has no place for the reason, so it is said, for tests/conformance/execution.py.

        Args:
            reason: what the device does not have, on one line.
        """
        name = self.id().partition(".")[2]
        print(f"[ REASON   ] {name}: {reason}", file=sys.stderr, flush=True)
        raise unittest.SkipTest(reason)
