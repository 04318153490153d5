"""A package `torchada` for programs that import it, on any platform. Never in the real one's place."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys
from importlib.machinery import ModuleSpec

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.runtime import activation

FOLDER = str(pathlib.Path(__file__).resolve().parents[1] / "alias")
"""The folder that has the package; it is on nobody's path unasked."""

_NAME = "torchada"


def install() -> None:
    """Lets `import torchada` get the adapter, which is activated.

    Raises:
        AdapterError: torchada itself is installed; or the adapter cannot be activated.
    """
    present = _present()
    if present is not None and not _is_ours(present):
        raise AdapterError(
            f"found {_NAME} installed; needed no other package of that name. To fix it: python -m pip "
            f"uninstall {_NAME}, or import torch_cuda_adapter.auto instead"
        )
    activation.activate()
    if present is None:
        # The last on the path: who comes before is the real one.
        sys.path.append(FOLDER)


def install_for_processes() -> None:
    """Lets `import torchada` get the adapter in processes that this one starts, too."""
    path = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    if FOLDER not in path:
        os.environ["PYTHONPATH"] = os.pathsep.join([*path, FOLDER])


def remove() -> None:
    """Takes the package away again."""
    present = _present()
    if present is None or not _is_ours(present):
        return
    if FOLDER in sys.path:
        sys.path.remove(FOLDER)
    for name in list(sys.modules):
        if name.partition(".")[0] == _NAME:
            del sys.modules[name]


def _present() -> ModuleSpec | None:
    if _NAME in sys.modules:
        return sys.modules[_NAME].__spec__ or ModuleSpec(_NAME, None)
    return importlib.util.find_spec(_NAME)


def _is_ours(spec: ModuleSpec) -> bool:
    return spec.origin is not None and pathlib.Path(spec.origin).is_relative_to(FOLDER)
