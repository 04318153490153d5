"""CUDA's families of names, read from families.toml: which library a name belongs to by its look."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
import tomllib
from collections.abc import Sequence

_FILE = pathlib.Path(__file__).parent / "families.toml"


@dataclasses.dataclass(frozen=True, slots=True)
class Family:
    """One library of CUDA, or one kind of names.

    Attributes:
        name: such as "cublas".
        names: matches an identifier of it as a whole.
        headers: matches what is included of it, as a whole.
        namespaces: namespaces of it, such as "at::cuda".
    """

    name: str
    names: re.Pattern[str]
    headers: re.Pattern[str]
    namespaces: tuple[str, ...]


@functools.cache
def families() -> tuple[Family, ...]:
    """All families; the first that matches is a name's."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(
        Family(
            name=name,
            names=_any_of(table.get("names", ())),
            headers=_any_of(table.get("headers", ())),
            namespaces=tuple(table.get("namespaces", ())),
        )
        for name, table in tables.items()
    )


@functools.lru_cache(maxsize=65536)
def of_name(name: str) -> str | None:
    """The family of an identifier; None where it does not look like CUDA's."""
    return next((family.name for family in families() if family.names.fullmatch(name)), None)


def of_header(header: str) -> str | None:
    """The family of a header, given without brackets; None where it does not look like CUDA's."""
    return next((family.name for family in families() if family.headers.fullmatch(header)), None)


def of_qualified(parts: Sequence[str]) -> str | None:
    """The family of a qualified name by its namespaces; None where they are not CUDA's."""
    for family in families():
        for namespace in family.namespaces:
            wanted = namespace.split("::")
            if len(parts) > 1 and list(parts[: len(wanted)]) == wanted:
                return family.name
    return None


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)")
