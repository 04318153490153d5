"""The simulated GPU: a device of torch_cuda_runtime, for machines without a GPU.

Nothing happens by importing this. ``TORCH_CUDA_SIM=1`` in the environment makes torch_cuda use the
device, as does ``TORCH_CUDA_DEVICES=sim``, with others if need be.
"""

from __future__ import annotations

import os
import pathlib
from typing import Dict  # noqa: UP035 - Python 3.9

_HERE = pathlib.Path(__file__).parent
_ARCH = "sm_80"


def paths() -> Dict[str, str]:  # noqa: UP006
    """Where the device's files are: the entry point "sim" of the group "torch_cuda.devices".

    Returns:
        A dict of paths. The device's library is "library". A program in the place of NVIDIA's assembler is "ptxas".
        Where the device has a newer GPU's capability, "triton_arch" is the GPU whose instructions it has, since Triton
        uses instructions for warp groups and tensor maps from capability 9.0 on.
    """
    newer = os.environ.get("CUDASIM_PROFILE", _ARCH) != _ARCH
    return {
        "library": str(_HERE / "lib" / "libaccel_sim.so"),
        "ptxas": str(_HERE / "bin" / "ptxas"),
        **({"triton_arch": _ARCH.replace("_", "")} if newer else {}),
    }
