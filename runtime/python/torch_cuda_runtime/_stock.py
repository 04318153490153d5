"""What a stock torch with CUDA gets when it is imported: our libraries before, the router after.

A CPU-only torch gets nothing here; torch_cuda gives it CUDA. Whatever goes wrong is one message: a
warning, and CUDA is then unavailable in this process rather than wrong; or the error of an import that
needs the libraries that torch then lacks.
"""

from __future__ import annotations

import atexit
import dataclasses
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType

from torch_cuda_runtime import _asked, _choice, _libraries, _torch
from torch_cuda_runtime._errors import Unusable, warn

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_PLUGIN = "torch_cuda"
# What torch raises where it lacks a library.
_FOR_WANT_OF_A_LIBRARY = (ImportError, OSError, ValueError)


@dataclasses.dataclass
class State:
    """What was done in this process.

    Attributes:
        choice: whose libraries are loaded, or None.
        problem: why none are, although devices are asked for.
        told: whether the user has been told of it.
        extended: the torch that has been told of its router.
    """

    choice: _choice.Choice | None = None
    problem: str | None = None
    told: bool = False
    extended: ModuleType | None = None


state = State()


def before_torch(spec: importlib.machinery.ModuleSpec) -> None:
    """Loads our libraries if a torch with CUDA is about to be imported. Never raises.

    What stands in the way is told when the import has come to its end: it may fail for that very reason.

    Args:
        spec: of torch.
    """
    torch = _torch.read(spec)
    if torch is None or state.choice is not None:
        return
    if torch.cuda is None:
        if importlib.util.find_spec(_PLUGIN) is None:
            _give_up(_choice.without_cuda(torch))
        return
    try:
        choice = _choice.choose(torch)
        _libraries.preload(choice.libraries)
    except Unusable as error:
        _give_up(error)
        return
    state.choice = choice


def import_failed(error: Exception) -> None:
    """Tells of what stood in the way, where torch does not work without it.

    Args:
        error: of the import.

    Raises:
        ImportError: with both reasons.
    """
    if state.problem is None or state.told or not isinstance(error, _FOR_WANT_OF_A_LIBRARY):
        return
    state.told = True
    raise ImportError(
        f"torch_cuda_runtime: {_asked.requested_by()} is set, but this torch gets no devices, and the CUDA "
        f"libraries that it needs are not there ({error}): {state.problem}\n{_MORE}",
        name="torch",
    ) from error


def after_torch(torch: ModuleType) -> None:
    """Has the router start when CUDA is first used, and tells the runtime of devices. Never raises.

    Does nothing the second time: it is called at the end of the import, and by torch for the entry
    point of group `torch.backends`, which is before other backends may use CUDA.

    Args:
        torch: the module, all of which is there but for other backends.
    """
    _tell()
    choice = state.choice
    if choice is None or state.extended is torch:
        return
    state.extended = torch
    from torch_cuda_runtime import _autograd_threads, _devices, _jiterator, _router, _segments

    try:
        devices = _devices.found()
    except Unusable as error:
        _give_up(error)
        _tell()
        return
    _devices.announce(devices)
    _devices.offer_to_triton(devices)

    def on_first_use() -> None:
        atexit.register(_autograd_threads.wait_until_idle)
        _router.route(choice.router, devices)
        _segments.leave_off_without_virtual_memory()
        _jiterator.serve()

    torch.cuda._lazy_call(on_first_use)


def autoload() -> None:
    """The entry point of group `torch.backends`, which torch calls at the end of its import."""
    if _asked.requested_by() is None or state.problem is not None:
        return
    torch = sys.modules["torch"]
    if state.choice is not None:
        after_torch(torch)
        return
    found = _torch.find()
    if found is not None and found.cuda is not None:
        variable = _asked.requested_by()
        _give_up(
            Unusable(
                found=f"{variable}, in a Python that did not look at it when it started",
                needed="CUDA's libraries of torch_cuda_runtime before torch is imported",
                fix=f"python -m torch_cuda_runtime run PROGRAM.py (or run -m MODULE), or set {variable} "
                "before Python starts, without -S, and with torch_cuda_runtime installed by pip where "
                "this Python has its packages",
            )
        )
        _tell()


_MORE = "Everything that was looked at: python -m torch_cuda_runtime doctor"


def _give_up(error: Unusable) -> None:
    """Leaves this process without CUDA."""
    state.problem = str(error)
    # Where there is a GPU, it is not what was asked for.
    os.environ[_VISIBLE] = "-1"


def _tell() -> None:
    """Says once why this process is without CUDA, if it is."""
    if state.problem is not None and not state.told:
        state.told = True
        warn(
            f"{_asked.requested_by()} is set, but this torch gets no devices, and works on the CPU: "
            f"{state.problem}\n{_MORE}"
        )
