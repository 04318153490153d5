"""NVIDIA's package cuda-bindings on these libraries, although it has CUDA's runtime inside, linked statically.

Its modules hand the runtime's functions to each other in capsules, which is Cython's way (`__pyx_capi__`). Where
the first of them is imported, its capsules get the functions of this package's libcudart, so that all others that
import it, and cuda-core, call these. What libcudart lacks stays as it is. CUDA 12's headers give functions another
name than their own, so cuda-bindings 12 is left alone.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # interpreters start with this module
    import ctypes
    from types import ModuleType

_PER_THREAD = "_ptds"
RUNTIMES = tuple(
    f"cuda.bindings.{module}{suffix}"
    for module in ("_bindings.cyruntime", "_internal.runtime")
    for suffix in ("", _PER_THREAD)
)
"""The modules with the runtime inside: of versions up to 13.4, and of 13.5; each with its second build, whose
default stream is the thread's."""
_MAJOR = 13


def use(module: ModuleType) -> None:
    """Gives a module's capsules the functions of libcudart, where this package has one for its CUDA.

    Args:
        module: one of `RUNTIMES`, loaded.
    """
    import ctypes

    from torch_cuda_runtime import _libraries

    version = getattr(sys.modules.get("cuda.bindings"), "__version__", "")
    if version.partition(".")[0] != str(_MAJOR):
        return
    for folder in _libraries.folders(_MAJOR):
        file = folder / f"libcudart.so.{_MAJOR}"
        if file.is_file():
            _fill(module, ctypes.CDLL(str(file)))
            return


def names(capsule: str, per_thread: bool) -> list[str]:
    """The names under which libcudart may have a function, the best first.

    Args:
        capsule: its name in a module, such as "_cudaMemcpy".
        per_thread: whether its default stream is the thread's.
    """
    own = capsule.lstrip("_")
    return [own + "_ptds", own + "_ptsz", own] if per_thread else [own]


def _fill(module: ModuleType, library: ctypes.CDLL) -> None:
    import ctypes

    replace = ctypes.pythonapi.PyCapsule_SetPointer
    replace.argtypes = [ctypes.py_object, ctypes.c_void_p]
    capsules: dict[str, object] = getattr(module, "__pyx_capi__", {})
    for capsule, content in capsules.items():
        for name in names(capsule, module.__name__.endswith(_PER_THREAD)):
            function = getattr(library, name, None)
            if function is not None:
                replace(content, ctypes.cast(function, ctypes.c_void_p))
                break
