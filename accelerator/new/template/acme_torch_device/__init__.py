"""The device acme for torch_cuda: `TORCH_CUDA_DEVICES=acme` in the environment asks for it."""

from __future__ import annotations

import pathlib


def libraries() -> dict[str, str]:
    """Where the device's library lies: the entry point `acme` of the group `torch_cuda.devices`."""
    folder = pathlib.Path(__file__).parent / "lib"
    return {"library": str(folder / "libaccel_acme.so")}
