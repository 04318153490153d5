"""Whether the kernels of this build run on the GPUs that are there.

PyTorch asks this when CUDA is first used, and its own answer knows machine code only: a build that
carries PTX, which the driver compiles for any newer GPU, would be told that it does not fit.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

_ARCHITECTURE = re.compile(r"(?P<kind>sm|compute)_(?P<number>\d+)")


def runs_on(architectures: Iterable[str], capability: tuple[int, int]) -> bool:
    """Whether kernels for these architectures run on a GPU.

    Machine code runs on GPUs of the same major version and the same or a newer minor one, PTX on all
    that are not older (CUDA programming guide, "Application compatibility").

    Args:
      architectures: such as "sm_80" and "compute_90".
      capability: the GPU's, such as (8, 6).
    """
    major, minor = capability
    for architecture in architectures:
        match = _ARCHITECTURE.match(architecture)
        if match is None:
            continue
        built = divmod(int(match["number"]), 10)
        if match["kind"] == "compute" and built <= capability:
            return True
        if match["kind"] == "sm" and built[0] == major and built[1] <= minor:
            return True
    return False


def check_devices() -> None:
    """Warns once for each GPU that no kernel of this build runs on."""
    import torch.cuda

    architectures = torch.cuda.get_arch_list()
    for index in range(torch.cuda.device_count()):
        capability = torch.cuda.get_device_capability(index)
        if architectures and not runs_on(architectures, capability):
            number = capability[0] * 10 + capability[1]
            warnings.warn(
                f"found {torch.cuda.get_device_name(index)} with CUDA capability sm_{number}; "
                f"this torch_cuda has kernels for {' '.join(architectures)}. To fix it: build it "
                f"with --//config:cuda_archs={capability[0]}.{capability[1]}",
                stacklevel=2,
            )
