"""The programs of rows.toml that need Triton, whose interpreter runs their kernels, and what the stand-in says of the rest."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

_PROGRAM = pathlib.Path(__file__).parent / "programs" / "triton_extra.py"
_DEADLINE_S = 600

_ABSENT = """
import torch, triton
from triton.language.extra import libdevice
from triton.language.extra.cuda.libdevice import j0
import triton.language as tl

assert libdevice is tl.extra.cuda.libdevice
assert not hasattr(libdevice, "no_such_function")

@triton.jit
def kernel(x, function: tl.constexpr):
    tl.store(x, function(tl.load(x)))

x = torch.ones(1, device="cuda")
for function in (j0, libdevice.fmod):
    try:
        kernel[(1,)](x, function=function)
    except Exception as error:
        print(error)
"""


def _run(*arguments: object) -> str:
    finished = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={
            **os.environ,
            # Where this test's own packages are, Triton among them.
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "TORCH_CUDA_DISABLE": "1",
            "TRITON_INTERPRET": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    if finished.returncode != 0:
        raise AssertionError(finished.stdout)
    return finished.stdout


class TritonRowsTest(absltest.TestCase):
    def test_program_runs(self) -> None:
        _run("-m", "torch_cuda_adapter", "--platform", "stand-in", _PROGRAM)

    def test_functions_that_are_absent(self) -> None:
        path = pathlib.Path(self.create_tempdir().full_path, "absent.py")
        path.write_text(_ABSENT, encoding="utf-8")
        said = _run("-m", "torch_cuda_adapter", "--platform", "stand-in", path)
        self.assertIn("libdevice.j0: the stand-in has no such function", said)
        self.assertIn("libdevice.fmod: the stand-in has no such function", said)


if __name__ == "__main__":
    absltest.main()
