"""The modules of frameworks that use CUDA without torch. Interpreters start with it, so it imports nothing."""

from __future__ import annotations

MODULES = (
    "cuda.bindings",
    "cuda.core",
    "cuda.pathfinder",
    "cupy",
    "jax",
    "jaxlib",
    "numba.cuda",
    "onnxruntime",
    "pynvml",
    "taichi",
    "tensorflow",
    "tinygrad",
    "triton",
    "warp",
)
"""Before these are imported, our libraries are loaded (`_guests`)."""
