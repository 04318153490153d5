"""Who owns what: the packages of a build that takes the device's code apart, as a file of that build says it.

The tool knows no build. The file is Starlark, so that the build can load it too. It defines

* `LAYERS`: each layer, lowest first, with the layers that it may depend on;
* `package_of(path, lists)`: the package that owns a file, "" where none does; `lists` are upstream's that name it;
* `cut_package_of(path)`: the package that supplies what is cut out of a file of all devices.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from decouple.errors import DecoupleError
from decouple.lists import starlark
from decouple.tree import decode

_FUNCTIONS = ("package_of", "cut_package_of")


class Owners:
    """The packages of a build, or of none."""

    def __init__(
        self,
        layers: Mapping[str, frozenset[str]] | None = None,
        package_of: Callable[[str, tuple[str, ...]], str] = lambda path, lists: "",
        cut_package_of: Callable[[str], str] = lambda path: "",
    ) -> None:
        """Owners by their layers and two functions; without these, nobody owns anything."""
        self.given = layers is not None
        """Whether there are any."""
        self.layers: Mapping[str, frozenset[str]] = layers or {}
        """Each layer, lowest first, with the layers that it may depend on."""
        # The same file has many findings.
        self._package_of = functools.cache(package_of)
        self._cut_package_of = functools.cache(cut_package_of)

    def layer_of(self, package: str) -> str:
        """The layer that a package is in; "" where it is in none."""
        inside = [layer for layer in self.layers if f"{package}/".startswith(f"{layer}/")]
        return max(inside, key=len, default="")

    def package_of(self, path: str, lists: Sequence[str] = ()) -> str:
        """The package that owns a file of upstream's device code.

        Args:
            path: relative to the tree.
            lists: upstream's lists that name it.

        Returns:
            Such as "aten_cuda/core"; "" where no package does.
        """
        return self._package_of(path, tuple(lists))

    def cut_package_of(self, path: str) -> str:
        """The package that supplies what is cut out of a file of all devices; "" where none does."""
        return self._cut_package_of(path)


NOBODY = Owners()
"""Nobody owns anything."""


def read(file: pathlib.Path) -> Owners:
    """Reads a file that says who owns what.

    Args:
        file: Starlark, see the head of this module.

    Raises:
        DecoupleError: it cannot be read, is not Starlark, or does not define what it has to.
    """
    name = str(file)
    try:
        text = decode(file.read_bytes(), name)
    except OSError as error:
        raise DecoupleError(f"cannot be read: {error.strerror}.", path=name) from None
    found = starlark.evaluate_text(text, name)
    functions = [found.get(function) for function in _FUNCTIONS]
    layers = found.get("LAYERS")
    if not isinstance(layers, dict) or not all(map(callable, functions)):
        raise DecoupleError(
            "says not who owns what: it has to define the mapping LAYERS and the functions "
            f"{' and '.join(_FUNCTIONS)}.",
            path=name,
        )
    whole, cut = functions
    return Owners(
        {str(layer): frozenset(map(str, below)) for layer, below in layers.items()},
        lambda path, lists: _asked(whole, name, path, list(lists)),
        lambda path: _asked(cut, name, path),
    )


def _asked(function: Any, name: str, *arguments: Any) -> str:
    """The answer of a function of the file."""
    try:
        answer = function(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever the file does wrong
        raise DecoupleError(
            f"fails for '{arguments[0]}': {type(error).__name__}: {error}.", path=name
        ) from None
    if not isinstance(answer, str):
        raise DecoupleError(
            f"answers {answer!r} for '{arguments[0]}', and not the name of a package.", path=name
        )
    return answer
