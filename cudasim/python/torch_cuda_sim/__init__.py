"""The simulated CUDA device: libraries in the place of NVIDIA's, for machines without a GPU.

Nothing happens by importing this. With the wheel installed beside torch_cuda, ``TORCH_CUDA_SIM=1`` in
the environment makes torch use it. Other programs find the libraries through `library_folder`.
"""

from __future__ import annotations

import pathlib


def library_folder() -> pathlib.Path:
    """The folder with ``libcudart.so.12``, ``libcuda.so.1``, ``libcublas.so.12`` and the others.

    For programs that are not Python: put it into ``LD_LIBRARY_PATH``.
    """
    return pathlib.Path(__file__).parent / "lib"
