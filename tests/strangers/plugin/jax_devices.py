"""Lets JAX use CUDA where there is no device file of NVIDIA's driver: it looks for these before it loads anything."""

from __future__ import annotations

from jax._src import hardware_utils

hardware_utils.has_visible_nvidia_gpu = lambda: True
