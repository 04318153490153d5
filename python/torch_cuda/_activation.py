"""Activation: check, load, swap, in this order, and a working CPU torch if any of it fails.

Only the last step changes torch, and it changes all or nothing (`_swap.py`). The CUDA libraries and
ours stay mapped into the process if a later step fails; nothing refers to them then.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from types import ModuleType

from torch_cuda import (
    _build,
    _checks,
    _devices,
    _expandable_segments,
    _import_hook,
    _libraries,
    _operators,
    _plugins,
)
from torch_cuda._errors import ActivationError, as_warning, warn

DISABLE_VARIABLE = "TORCH_CUDA_DISABLE"
_FALSE = frozenset({"", "0", "false", "no", "off"})

_NOT_TRIED = (
    "it was not tried in this process: torch is not imported yet, or TORCH_DEVICE_BACKEND_AUTOLOAD "
    "keeps backends from loading by themselves (torch_cuda.activate() does it then)"
)

_active = False
_reason = _NOT_TRIED


def is_active() -> bool:
    """Whether torch uses the CUDA of this package in this process."""
    return _active


def why_inactive() -> str | None:
    """Why torch_cuda is off in this process.

    Returns:
      The reason in words, or None when it is on.
    """
    return None if _active else _reason


def plugins() -> tuple[_plugins.PluginState, ...]:
    """The installed plugins (wheels that add to torch_cuda), in the order of their names.

    Returns:
      Name, version, and whether it is active or why not, of each.
    """
    return _plugins.states(None if _active else f"torch_cuda is off: {_reason}")


def is_disabled(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether `TORCH_CUDA_DISABLE` asks to keep the plugin off.

    Args:
      environ: environment variables.

    Returns:
      True for any value but the empty one, "0", "false", "no" and "off".
    """
    return environ.get(DISABLE_VARIABLE, "").strip().lower() not in _FALSE


def autoload() -> None:
    """The entry point that torch calls at the end of `import torch`.

    Never raises: torch would turn an exception into a failed `import torch`. What goes wrong
    becomes one `ActivationWarning`, and torch stays as it was. Does nothing, without a word, when
    `TORCH_CUDA_DISABLE` is set.
    """
    global _reason
    if is_disabled():
        _reason = f"{DISABLE_VARIABLE}={os.environ[DISABLE_VARIABLE]} is set"
        return
    try:
        activate()
    except ActivationError as error:
        warn(as_warning(error))


def activate() -> None:
    """Turns the CPU-only torch of this process into one with CUDA.

    Only needed where torch did not do it by itself (``TORCH_DEVICE_BACKEND_AUTOLOAD=0``). Imports
    torch if that has not happened yet. Does nothing when it is on already. ``TORCH_CUDA_DISABLE`` is
    not looked at: who calls this function means it.

    Raises:
      ActivationError: it cannot be done; torch stays as it was. Says what was found, what is needed
        and what to type.
    """
    global _active, _reason
    if _active:
        return
    try:
        _activate()
    except ActivationError as error:
        _reason = str(error)
        raise
    except Exception as error:
        # Nobody foresaw it, but `import torch` has to go on all the same.
        _reason = f"{type(error).__name__}: {error}"
        raise ActivationError(
            found=f"an error during activation, {_reason}",
            needed="an activation without errors",
            fix="python -m torch_cuda doctor, and report what it prints",
        ) from error
    _active = True
    # Outside of the guarded part: they do not decide about the core.
    _plugins.activate_all(_build.build_info().version)


def _activate() -> None:
    build = _build.build_info()
    torch = importlib.import_module("torch")
    if _active:
        # This very import of torch found the entry point and has done it.
        return
    installation = _checks.Installation(build, _build.package_folder(), torch)
    for _, check in _checks.CHECKS:
        check(installation)
    devices = _devices.found()
    libraries = _libraries.preload(build)
    _devices.announce(devices)
    _devices.offer_to_triton(devices)
    bindings = load_bindings(build)
    # Not at the top: `import torch_cuda` alone has no use for it.
    from torch_cuda import _cudnn, _swap

    _swap.plan(bindings, build.cuda_version, _cudnn.is_served(libraries)).apply()
    _operators.route_on_first_use(bindings, _build.package_folder(), devices)
    _queue_late_libraries(torch, build, bindings)
    _import_hook.after_import("torch.utils.cpp_extension", _extend_cpp_extension)


def load_bindings(build: _build.BuildInfo) -> ModuleType:
    """Loads `torch_cuda._CUDAC`, which does not change torch.

    Args:
      build: named in the error.

    Returns:
      The module.

    Raises:
      ActivationError: the loader or the module's initialisation refused.
    """
    try:
        return importlib.import_module("torch_cuda._CUDAC")
    except ImportError as error:
        # A torch with other library names or symbols than at build time ends here as well.
        raise ActivationError(
            found=f"CUDA bindings that do not load: {error}",
            needed=f"the torch that torch_cuda {build.version} was built against "
            f"({build.torch_version}) and an undamaged wheel",
            fix=f"{_build.reinstall_command(build.version)}\n"
            "or build torch_cuda against this torch with "
            f"--repo_env=TORCH_CUDA_PYTHON={sys.executable}",
        ) from error


def _queue_late_libraries(torch: ModuleType, build: _build.BuildInfo, bindings: ModuleType) -> None:
    """Has libraries loaded when Python first initialises CUDA. Without a GPU this never happens.

    These are the ones that PyTorch opens by name, which it looks for beside libtorch_cpu and on the
    system only.
    """

    def load_late() -> None:
        _libraries.load_on_first_use(build, _build.package_folder())
        _operators.serve_sleep(bindings, _build.package_folder())
        _expandable_segments.leave_off_without_virtual_memory()

    torch.cuda._lazy_call(load_late)


def _extend_cpp_extension(module: ModuleType) -> None:
    # Not at the top: it needs setuptools, as the module does.
    from torch_cuda.utils.cpp_extension import upstream_functions

    upstream_functions.extend(module)
