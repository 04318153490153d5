"""What torch_cuda_runtime.pth does, for the children of `python -m torch_cuda_runtime run`.

Only one `sitecustomize` is imported, so this one goes on with the one that it hides.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import pathlib
import sys

_HERE = pathlib.Path(__file__).parent


def _go_on() -> None:
    folders = [folder for folder in sys.path if folder != str(_HERE)]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _install() -> None:
    folder = str(_HERE.parent.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    from torch_cuda_runtime import _hook

    _hook.install()


_install()
_go_on()
