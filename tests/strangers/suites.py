"""The suites: what is installed for each, where its tests are, and how they are started."""

from __future__ import annotations

import dataclasses
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
# The device that a suite is run on where nobody names another one.
DEVICES = "sim"


@dataclasses.dataclass(frozen=True)
class Suite:
    """The tests of a framework.

    Attributes:
        name: as the command takes it.
        version: of the framework.
        packages: of PyPI, pinned, with all that they need.
        repository: what a user clones where no package has the tests; empty: the package has them.
        folder: of the tests, in site-packages or in the clone.
        files: patterns of the files with tests, below the folder.
        root: in the clone, what names of tests begin below, if that is not the folder of the tests.
        paths: in the clone, what tests import from.
        torch: the version that is installed with its own packages; empty: none.
        arguments: for pytest.
        environment: variables.
    """

    name: str
    version: str
    packages: tuple[str, ...]
    folder: str
    repository: str = ""
    files: tuple[str, ...] = ("test_*.py",)
    root: str = ""
    paths: tuple[str, ...] = ()
    torch: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def known(self) -> pathlib.Path:
        """The list of tests that are known to fail."""
        return HERE / "known" / f"{self.name}.txt"


def read(text: str) -> dict[str, Suite]:
    """Reads a table for each suite.

    Args:
        text: TOML.
    """

    def value(given: Any) -> Any:
        return tuple(given) if isinstance(given, list) else given

    return {
        name: Suite(name, **{key: value(given) for key, given in table.items()})
        for name, table in tomllib.loads(text).items()
    }


def every() -> dict[str, Suite]:
    """All suites by name."""
    return read((HERE / "suites.toml").read_text(encoding="utf-8"))
