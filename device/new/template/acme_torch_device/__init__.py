"""The device acme for PyTorch: `TORCH_CUDA_DEVICES=acme` in the environment asks for it."""

from __future__ import annotations

import pathlib


def libraries() -> dict[str, str]:
    """Where the device's library lies: the entry point `acme` of the group `torch_cuda.devices`.

    Its operators are found beside it, those for the PyTorch that runs.
    """
    folder = pathlib.Path(__file__).parent / "lib"
    return {"library": str(folder / "libaccel_acme.so")}
