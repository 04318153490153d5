"""Runs a Python program where `.pth` files are off: python -m torch_cuda_runtime run script.py.

That is with `python -S`, in a Python that a program embeds, and where this package lies in a folder of
PYTHONPATH. Python processes that the program starts get devices, too, unless they ignore PYTHONPATH.
"""

from __future__ import annotations

import os
import pathlib
import runpy
import sys
import types

from torch_cuda_runtime import _asked, _hook, _program

_USAGE = "usage: python -m torch_cuda_runtime run (SCRIPT.py | -m MODULE) [ARGUMENT ...]"
_PYTHONPATH = "PYTHONPATH"
# Beside this file: a `sitecustomize` that does what the `.pth` does.
_SITE = pathlib.Path(__file__).parent / "_site"


def main(arguments: list[str]) -> int:
    """Runs the program in this process, as `python` does.

    Args:
        arguments: what stands behind `run`.

    An executable that is no Python replaces this process, with the libraries in its environment.

    Returns:
        0, or 2 for a wrong command line. The program's own exit status comes from the program.
    """
    module = arguments[:1] == ["-m"]
    rest = arguments[1:] if module else arguments
    if not rest or rest[0].startswith("-"):
        print(_USAGE, file=sys.stderr)
        return 2
    if _asked.requested_by() is None:
        print(
            f"torch_cuda_runtime: neither {_asked.DEVICES_VARIABLE} nor {_asked.SIM_VARIABLE} asks for "
            f"a device; set one, such as {_asked.SIM_VARIABLE}=1",
            file=sys.stderr,
        )
        return 1
    if not module and _program.is_native(rest[0]):
        variables = _program.settings(None)
        if variables is None:
            return 1
        # Unlike a shell, Python takes a name without a folder for one in the current folder.
        return _program.start([str(pathlib.Path(rest[0]).absolute()), *rest[1:]], variables)
    _reach_children()
    _hook.install()
    if module:
        sys.argv = ["-m", *rest[1:]]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif pathlib.Path(rest[0]).is_dir() or not rest[0].endswith((".py", ".pyw")):
        sys.argv = list(rest)
        runpy.run_path(rest[0], run_name="__main__")
    else:
        _run_script(rest)
    return 0


def _reach_children() -> None:
    """Has Python processes that are started from here look for torch, too."""
    others = os.environ.get(_PYTHONPATH, "").split(os.pathsep)
    folders = [str(_SITE), *(folder for folder in others if folder and folder != str(_SITE))]
    os.environ[_PYTHONPATH] = os.pathsep.join(folders)
    # Some programs hand down sys.path instead: torch.compile's workers get it as their PYTHONPATH.
    if str(_SITE) not in sys.path:
        sys.path.insert(1, str(_SITE))


def _run_script(command: list[str]) -> None:
    """Runs a script in a module `__main__` that stays, for threads and exit handlers that it leaves."""
    path = pathlib.Path(command[0])
    try:
        source = path.read_bytes()
    except OSError as error:
        sys.exit(f"torch_cuda_runtime: cannot open {path}: {error.strerror}")
    main_module = types.ModuleType("__main__")
    main_module.__file__ = str(path)
    main_module.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main_module
    sys.argv = list(command)
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        # `python -m` put the current folder there.
        sys.path[0:1] = [str(path.parent.absolute())]
    exec(compile(source, str(path), "exec"), main_module.__dict__)  # noqa: S102
