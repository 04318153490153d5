"""Which of the wheel's libraries is for the torch of this process.

A library of C++ is for one minor version of torch. There is one for a torch whose CUDA is torch_cuda's, and one for
each torch of PyPI that //third_party/stock_torch/versions.bzl names. None has anything of Python's ABI.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pathlib

import torch

_FOLDER = pathlib.Path(__file__).parent / "lib"
_NAME = "libtorch_pu"


def choose() -> pathlib.Path:
    """Chooses the library.

    Returns:
      Its path.

    Raises:
      ImportError: there is none for this torch, or torch has no CUDA.
    """
    if _has_cuda_of_its_own():
        return _of_stock()
    return _of_torch_cuda()


def _has_cuda_of_its_own() -> bool:
    """Whether torch was built with CUDA: torch_cuda leaves such a torch alone."""
    if importlib.util.find_spec("torch_cuda") is not None:
        import torch_cuda

        if torch_cuda.is_active():
            return False
    return bool(torch.backends.cuda.is_built())


def _of_stock() -> pathlib.Path:
    minor = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    library = _FOLDER / f"{_NAME}-{minor}.so"
    if not library.is_file():
        there = _minors()
        raise ImportError(
            f"torch_pu is built for each version of torch: found torch {torch.__version__}; needed one of "
            f"{', '.join(there)} from PyPI.\n"
            f'To fix it: python -m pip install "torch=={there[-1]}.*"',
            name="torch",
        )
    return library


def _minors() -> list[str]:
    found = (path.stem.removeprefix(f"{_NAME}-") for path in _FOLDER.glob(f"{_NAME}-*.so"))
    return sorted(found, key=lambda minor: [int(part) for part in minor.split(".")])


def _of_torch_cuda() -> pathlib.Path:
    if importlib.util.find_spec("torch_cuda") is None:
        raise ImportError(
            f"torch_pu is a name for CUDA's devices: found torch {torch.__version__}, which has no CUDA, and no "
            f"torch_cuda; needed a torch with CUDA ({', '.join(_minors())} from PyPI), or torch_cuda "
            f"{_version()}, active.\n"
            f'To fix it: python -m pip install --force-reinstall "torch=={_minors()[-1]}.*" from PyPI, or python -m '
            f"pip install torch_cuda=={_version()}",
            name="torch_cuda",
        )
    import torch_cuda

    if torch_cuda.__version__ != _version():
        raise ImportError(
            f"torch_pu and torch_cuda belong together: found torch_cuda {torch_cuda.__version__}; needed torch_cuda "
            f"{_version()}.\nTo fix it: python -m pip install torch_cuda=={_version()}",
            name="torch_cuda",
        )
    if not torch_cuda.is_active():
        raise ImportError(
            f"torch_pu needs an active torch_cuda: it is off ({torch_cuda.why_inactive()}).\n"
            "To see why: python -m torch_cuda doctor",
            name="torch_cuda",
        )
    return _FOLDER / f"{_NAME}.so"


def _version() -> str:
    return importlib.metadata.version("torch_pu")
