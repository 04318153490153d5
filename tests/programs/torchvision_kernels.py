"""torchvision's operators for CUDA, compiled from its source: Debian builds them for the CPU only.

As anybody compiles CUDA sources beside an installed torch: by `torch.utils.cpp_extension.load`.
"""

from __future__ import annotations

import importlib.util
import pathlib

from torch.utils import cpp_extension

from tests.programs import harness


def load(place: harness.Place) -> None:
    """Compiles and registers them, once for a folder of extensions (TORCH_EXTENSIONS_DIR).

    Args:
        place: nothing is done where it is the CPU, for which torchvision has them; nor beside PyPI's torchvision,
            which has them for CUDA, too.
    """
    if place.device.type == "cpu" or importlib.util.find_spec("torchvision_csrc") is None:
        return
    import torchvision_csrc

    sources = pathlib.Path(torchvision_csrc.__file__).parent / "ops" / "cuda"
    cpp_extension.load(
        name="torchvision_kernels",
        sources=sorted(str(source) for source in sources.glob("*.cu")),
        is_python_module=False,
    )
