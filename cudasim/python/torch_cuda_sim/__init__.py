"""The simulated GPU: a device of torch_cuda_runtime, for machines without a GPU.

Nothing happens by importing this. ``TORCH_CUDA_SIM=1`` in the environment makes torch_cuda use the
device, as does ``TORCH_CUDA_DEVICES=sim``, with others if need be.
"""

from __future__ import annotations

import pathlib
from typing import Dict  # noqa: UP035 - Python 3.9

_HERE = pathlib.Path(__file__).parent


def paths() -> Dict[str, str]:  # noqa: UP006
    """Where the device's files are: the entry point "sim" of the group "torch_cuda.devices".

    Returns:
        "library", the device's library, and "ptxas", a program in the place of NVIDIA's assembler.
    """
    return {
        "library": str(_HERE / "lib" / "libaccel_sim.so"),
        "ptxas": str(_HERE / "bin" / "ptxas"),
    }
