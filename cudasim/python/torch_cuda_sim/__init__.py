"""The simulated GPU: a device of torch_cuda_runtime, for machines without a GPU.

Nothing happens by importing this. ``TORCH_CUDA_SIM=1`` in the environment makes torch_cuda use the
device, as does ``TORCH_CUDA_DEVICES=sim``, with others if need be.
"""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

_HERE = pathlib.Path(__file__).parent
_MODEL = "CUDASIM_PROFILE"
_NAME = "CUDASIM_NAME"


def paths() -> dict[str, Any]:
    """Where the device's files are: the entry point "sim" of the group "torch_cuda.devices".

    Returns:
        A dict of paths. The device's library is "library". A program in the place of NVIDIA's assembler is "ptxas".
        Where the device has a newer GPU's capability, "triton_arch" is the GPU whose instructions it has, since Triton
        uses instructions for warp groups and tensor maps from capability 9.0 on. "settings" has environment variables
        for what the user has left open, "about" says what was chosen and why.
    """
    from torch_cuda_sim import _gpu_model

    asked = os.environ.get(_MODEL, "").strip()
    settings = {}
    if asked:
        model, about = asked, f"{asked}, by {_MODEL}"
    else:
        choice = _gpu_model.choose()
        model = choice.model
        packages = ", ".join(f"{name} (PTX for {of})" for name, of in choice.packages)
        about = f"{model}, the oldest" + (
            f" that runs the kernels of {packages}" if packages else ""
        )
        if packages:
            settings[_MODEL] = model
    if "jax" in sys.modules:
        # Pallas knows GPUs by their names.
        settings[_NAME] = "model"
    return {
        "library": str(_HERE / "lib" / "libaccel_sim.so"),
        "ptxas": str(_HERE / "bin" / "ptxas"),
        "settings": settings,
        "about": about,
        **(
            {"triton_arch": _gpu_model.OLDEST.replace("_", "")}
            if model != _gpu_model.OLDEST
            else {}
        ),
    }
