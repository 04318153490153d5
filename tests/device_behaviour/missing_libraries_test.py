"""Functions that the simulated device does not have answer with their own error and do no harm."""

from __future__ import annotations

import unittest

from absl.testing import absltest

from tests.device_behaviour import programs

# 9 is CUSOLVER_STATUS_NOT_SUPPORTED, 10 is CUSPARSE_STATUS_NOT_SUPPORTED.
CALLS = """
import ctypes
import torch
torch.ones(1, device="cuda")
handle = ctypes.c_void_p()
for library, function in (
    ("libcusolver.so.11", "cusolverRfCreate"),
    ("libcusparse.so.12", "cusparseScsrcolor"),
):
    print(library, getattr(ctypes.CDLL(library), function)(ctypes.byref(handle)))
print(torch.ones(3, device="cuda").sum().item())
"""


@unittest.skipUnless(programs.IS_SIMULATED, "a real GPU has these libraries")
class MissingLibrariesTest(absltest.TestCase):
    def test_functions_name_themselves(self) -> None:
        done = programs.run(CALLS)
        self.assertEqual(
            done.stdout.splitlines(), ["libcusolver.so.11 9", "libcusparse.so.12 10", "3.0"]
        )
        for function in ("cusolverRfCreate", "cusparseScsrcolor"):
            self.assertIn(f"torch_cuda: {function} is not supported", done.stderr)


if __name__ == "__main__":
    absltest.main()
