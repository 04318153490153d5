"""The library of the plugin (profiler/timeline/plugin.cpp), as Python functions."""

from __future__ import annotations

import ctypes
import pathlib

CUPTI = "libcupti.so.12"


class Native:
    """The loaded library. Loading it registers it with torch's profilers, for the whole process."""

    def __init__(self, path: pathlib.Path) -> None:
        """Loads it.

        Args:
          path: of libtorch_cuda_profiler.so.

        Raises:
          OSError: the loader refuses it.
          AttributeError: it is another library.
        """
        library = ctypes.CDLL(str(path))
        self._set_cupti = library.torch_cuda_profiler_set_cupti
        self._set_cupti.argtypes = [ctypes.c_char_p]
        self._set_cupti.restype = None
        self._load_cupti = library.torch_cuda_profiler_load_cupti
        self._load_cupti.argtypes = []
        self._load_cupti.restype = ctypes.c_char_p
        self._toggle = library.torch_cuda_profiler_toggle
        self._toggle.argtypes = [ctypes.c_int]
        self._toggle.restype = None

    def set_cupti(self, path: pathlib.Path) -> None:
        """Names the file of CUPTI; otherwise the system's loader looks for it."""
        self._set_cupti(bytes(path))

    def why_no_cupti(self) -> str | None:
        """Loads CUPTI.

        Returns:
          None, or why it cannot be used.
        """
        reason: bytes | None = self._load_cupti()
        return None if reason is None else reason.decode(errors="replace")

    def toggle(self, enable: bool) -> None:
        """Stops the profile that is recording CUDA for a while, or has it go on."""
        self._toggle(enable)
