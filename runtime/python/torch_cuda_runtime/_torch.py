"""The torch that an import would find: its version and its CUDA, read without importing it."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

_ASSIGNMENT = re.compile(
    r"""^(?P<name>__version__|cuda)\b[^=\n]*=\s*(?:(?P<quote>['"])(?P<text>.*?)(?P=quote)|None)""",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Torch:
    """An installed torch.

    Attributes:
        folder: of the package.
        version: such as "2.15.0+cu132".
        cuda: the version of the CUDA that it was built for, such as "13.2"; None: for none.
    """

    folder: pathlib.Path
    version: str
    cuda: str | None

    @property
    def minor(self) -> str:
        """Major and minor version: "2.15"."""
        return ".".join(self.version.split("+")[0].split(".")[:2])

    @property
    def is_release(self) -> bool:
        """Whether it is a version such as 2.15.0, and none of the states before: 2.15.0a0+git1234567."""
        return re.fullmatch(r"\d+\.\d+\.\d+", self.version.partition("+")[0]) is not None

    @property
    def cuda_major(self) -> int | None:
        """13 of CUDA 13.2, or None."""
        major = (self.cuda or "").partition(".")[0]
        return int(major) if major.isdigit() else None


def read(spec: importlib.machinery.ModuleSpec | None) -> Torch | None:
    """Reads what `torch/version.py` says.

    Args:
        spec: what a finder found for torch.

    Returns:
        It, or None where there is no package with such a file.
    """
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = pathlib.Path(location)
        try:
            text = (folder / "version.py").read_text(encoding="utf-8")
        except OSError:
            continue
        # Of an assignment in both branches of an `if` the first counts.
        said: dict[str, str | None] = {}
        for match in _ASSIGNMENT.finditer(text):
            said.setdefault(match["name"], match["text"])
        version = said.get("__version__")
        if version:
            return Torch(folder, version, said.get("cuda") or None)
    return None


def find() -> Torch | None:
    """Finds the torch that `import torch` imports or has imported; it is not imported here."""
    try:
        return read(importlib.util.find_spec("torch"))
    except ValueError:  # somebody's stand-in without a spec
        module = sys.modules.get("torch")
        spec = importlib.machinery.ModuleSpec("torch", None, is_package=True)
        spec.submodule_search_locations = list(getattr(module, "__path__", ()))
        return read(spec)
