"""The entry point of group `jax_plugins`: JAX calls `initialize` before it asks for GPUs.

JAX's own plugin for CUDA is the one that runs. JAX asks for the device files of NVIDIA's driver first.
"""

from __future__ import annotations

from torch_cuda_runtime import _asked


def initialize() -> None:
    """Tells JAX that there is a GPU, if the environment asks for devices. See `jax._src.xla_bridge`."""
    if _asked.requested_by() is None:
        return
    from torch_cuda_runtime import _guests

    _guests.before("jax")  # where this Python does not wait for the import of JAX
    if not _guests.has_devices("jax"):
        return
    from jax._src import hardware_utils

    if hasattr(hardware_utils, "has_visible_nvidia_gpu"):
        hardware_utils.has_visible_nvidia_gpu = lambda: True
