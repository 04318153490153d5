"""The plugin: what torch_cuda asks for, loads and swaps in (docs/plugins.md in torch_cuda's sources)."""

from __future__ import annotations

import os
import pathlib
import sys

from torch_cuda import ActivationError, _build, _libraries
from torch_cuda._swap import Swap

from torch_cuda_profiler import _swap
from torch_cuda_profiler._native import CUPTI, Native

DISTRIBUTION = "torch_cuda_profiler"
_LIBRARY = pathlib.Path(__file__).parent / "lib" / "libtorch_cuda_profiler.so"


class Plugin:
    """torch_cuda_profiler, as `torch_cuda._plugins` sees it."""

    def __init__(self) -> None:
        self._build = _build.build_info(DISTRIBUTION)

    @property
    def version(self) -> str:
        """Version of the wheel."""
        return self._build.version

    def load(self) -> Swap:
        """Loads the library, which registers itself with torch's profilers, and computes the swap.

        CUPTI is only looked for: it is loaded by the first profile.

        Returns:
          The swap.

        Raises:
          ActivationError: the library does not load.
        """
        try:
            native = Native(_LIBRARY)
        except (OSError, AttributeError) as error:
            raise ActivationError(
                found=f"a library that does not load: {error}",
                needed=f"the torch that {DISTRIBUTION} {self.version} was built against, and an "
                "undamaged wheel",
                fix=_build.reinstall_command(self.version, DISTRIBUTION),
            ) from error
        package = self._build.cuda_libraries[CUPTI]
        for _, path in _libraries.candidates(CUPTI, package, os.environ, sys.path)[:1]:
            native.set_cupti(path)
        return _swap.plan(native, package)


def plugin() -> Plugin:
    """The entry point of group `torch_cuda.plugins`."""
    return Plugin()
