"""What the tests in this folder share: other interpreters, and what a machine without a GPU says.

The tests run inside a virtual environment that has the torch_cuda wheel (`wheel_test`). By hand:
`TORCH_CUDA_TEST_PYTHON=VENV/bin/python PYTHONPATH=REPO VENV/bin/python tests/intra_file/X_test.py`.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap

_PYTHON = os.environ.get("TORCH_CUDA_TEST_PYTHON", sys.executable)


def run_python(code: str, *, plugin: bool = True) -> str:
    """Runs Python code in a fresh interpreter of the environment under test.

    Args:
        code: the program; common leading white space is removed.
        plugin: whether torch_cuda may come in; without it torch is the stock CPU build.

    Returns:
        What the program wrote to its standard output, without the last line break.

    Raises:
        AssertionError: the program failed; the message has its output.
    """
    environment = dict(os.environ)
    environment.pop("TORCH_CUDA_DISABLE", None)
    if not plugin:
        environment["TORCH_CUDA_DISABLE"] = "1"
    done = subprocess.run(
        [_PYTHON, "-c", textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.rstrip("\n")


# What CUDA itself says to a call that does not initialise torch.cuda first, with and without a driver.
NO_DEVICE_ERROR = r"no CUDA-capable device|CUDA driver version is insufficient|NVIDIA driver"


def no_gpu_message() -> str:
    """Returns the start of what a CUDA build of PyTorch 2.6 raises on a machine without a GPU."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "Found no NVIDIA driver on your system."
    return "No CUDA GPUs are available"
