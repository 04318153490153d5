"""Switches the adapter on and off."""

from __future__ import annotations

import os
import threading
from types import ModuleType

from torch_cuda_adapter import platforms
from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime import environment
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.runtime.platform_modules import import_backend, is_installed

VARIABLE = "TORCH_CUDA_ADAPTER"
"""Names the platform: one of `platforms.names()`, or a file that ends in ".toml"."""

_lock = threading.RLock()
_journal: Journal | None = None
_platform: Platform | None = None
# What a call that has not returned yet activates.
_begun: Platform | None = None


def activate(platform: str | os.PathLike[str] | None = None) -> Platform:
    """Makes CUDA programs run on a platform's device, from here on.

    Args:
        platform: its name, or a file. Without, TORCH_CUDA_ADAPTER names it; without that, it is the one
            whose backend is installed.

    Returns:
        The platform. If the adapter is active for it already, nothing changes.

    Raises:
        AdapterError: it cannot be done; nothing is changed then.
    """
    global _journal, _platform, _begun
    with _lock:
        if _begun is not None:
            # `import torch`, which the call before does, calls autoload.
            return _begun
        chosen = platforms.load(platform) if platform else choose()
        if _platform is not None:
            if _platform.digest != chosen.digest:
                raise AdapterError(
                    f"the adapter is active for {_platform.name}, and {chosen.name} was asked for; "
                    "call torch_cuda_adapter.runtime.restore() in between"
                )
            return _platform
        journal = Journal()
        _begun = chosen
        try:
            _change(chosen, journal)
        except BaseException:
            journal.restore()
            raise
        finally:
            _begun = None
        _journal, _platform = journal, chosen
        return chosen


def restore() -> None:
    """Puts back all that `activate` changed. Tensors on the device stay there, under its own name."""
    global _journal, _platform
    with _lock:
        if _journal is not None:
            _journal.restore()
        _journal = _platform = None


def active_platform() -> Platform | None:
    """The platform that CUDA programs run on; None if the adapter is not active."""
    return _platform


def choose() -> Platform:
    """The platform that TORCH_CUDA_ADAPTER names, else the one whose backend is installed.

    Raises:
        AdapterError: none is installed, or several are.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return platforms.load(named)
    installed = [found for name in platforms.names() if is_installed(found := platforms.load(name))]
    if len(installed) == 1:
        return installed[0]
    names = ", ".join(found.name for found in installed) or "none of " + ", ".join(
        platforms.names()
    )
    raise AdapterError(
        f"found {names} installed; needed one platform: install its PyTorch backend, or set {VARIABLE} to a name or a file"
    )


def _change(platform: Platform, journal: Journal) -> None:
    environment.change(platform, journal)
    # It imports torch.
    from torch_cuda_adapter.runtime import cuda_build

    cuda_build.check(platform)
    namespace = import_backend(platform)
    environment.set_defaults(platform, journal)
    # They import torch.
    from torch_cuda_adapter.runtime import (
        compilation,
        cuda_module,
        distributed,
        imports,
        inductor,
        legacy_types,
        libraries,
        naming,
        operators,
        profiler,
        runtime_library,
    )
    from torch_cuda_adapter.runtime.packages import functions, modules

    naming.begin(platform, journal)
    naming.change_tensors(journal)
    cuda_module.change(platform, namespace, journal)
    cuda_build.change(platform, journal)
    legacy_types.change(namespace, platform.table("device")["type"], journal)
    libraries.change(journal)
    profiler.change(platform, journal)
    operators.change(platform, journal)
    functions.change(platform, journal)
    modules.change(platform, journal)
    runtime_library.change_ctypes(platform, journal)
    imports.after_import(
        "torch.distributed.distributed_c10d",
        lambda module: distributed.change(platform, module, journal),
        journal,
    )
    inductor.change(platform, journal)
    imports.after_import(
        "torch._inductor.codecache",
        lambda module: compilation.change(platform, module, journal),
        journal,
    )
    imports.after_import(
        "torch.utils.cpp_extension",
        lambda module: _change_extensions(platform, module, journal),
        journal,
    )


def _change_extensions(platform: Platform, module: ModuleType, journal: Journal) -> None:
    from torch_cuda_adapter.runtime import extensions

    extensions.change(platform, module, journal)
