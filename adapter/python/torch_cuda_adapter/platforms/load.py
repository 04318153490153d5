"""Finds and reads the files of platforms.

A platform is named ("musa") or given as a file ("./mine.toml"). Names are looked for in the folders
of TORCH_CUDA_ADAPTER_PLATFORMS, then among those that are shipped, which lie beside this module.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.platforms import schema

FOLDERS_VARIABLE = "TORCH_CUDA_ADAPTER_PLATFORMS"
"""Folders with more platforms, with colons between them; they come first."""

_SHIPPED = pathlib.Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Platform:
    """One platform, as its file describes it; adapter/README.md tells what the keys mean.

    Attributes:
        name: such as "musa".
        summary: whose devices they are, in one line.
        path: the file.
        digest: of the file, as hexadecimal digits.
        tables: all that is in the file, in the form of `schema.PLATFORM`.
    """

    name: str
    summary: str
    path: pathlib.Path
    digest: str
    tables: Mapping[str, Any]

    def table(self, name: str) -> Mapping[str, Any]:
        """A table of the file, such as "libraries"; empty where the file has none."""
        found: Mapping[str, Any] = self.tables.get(name, {})
        return found


def names() -> list[str]:
    """The names of all platforms that are found, sorted."""
    return sorted({path.stem for folder in _folders() for path in folder.glob("*.toml")})


def load(name: str | os.PathLike[str]) -> Platform:
    """Reads a platform.

    Args:
        name: one of `names()`, or a file that ends in ".toml".

    Raises:
        AdapterError: there is no such platform, or its file has not the form.
    """
    path = _path(os.fspath(name))
    try:
        content = path.read_bytes()
        tables = tomllib.loads(content.decode("utf-8"))
        schema.PLATFORM(tables, "the file")
    except OSError as error:
        raise AdapterError(f"found no file {path} that can be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AdapterError(f"{path}: not valid TOML: {error}") from None
    except schema.Wrong as error:
        raise AdapterError(f"{path}: {error}") from None
    return Platform(
        name=tables["name"],
        summary=tables["summary"],
        path=path,
        digest=hashlib.sha256(content).hexdigest(),
        tables=tables,
    )


def _folders() -> list[pathlib.Path]:
    given = os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)
    return [*(pathlib.Path(folder) for folder in given if folder), _SHIPPED]


def _path(name: str) -> pathlib.Path:
    if name.endswith(".toml"):
        return pathlib.Path(name)
    for folder in _folders():
        path = folder / f"{name}.toml"
        if name and pathlib.Path(name).name == name and path.is_file():
            return path
    raise AdapterError(
        f"found no platform {name!r}; needed one of {', '.join(names())}, or a file as "
        f"./mine.toml, or a folder with it in {FOLDERS_VARIABLE}"
    )
