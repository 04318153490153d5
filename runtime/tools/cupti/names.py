"""Takes the names and numbers of enumerations out of CUPTI's headers, as entries of C++ tables."""

from __future__ import annotations

import pathlib
import re

from absl import app, flags

_HEADER = flags.DEFINE_string("header", None, "CUPTI's header.", required=True)
_PREFIX = flags.DEFINE_string(
    "prefix", None, "What the names of the enumeration begin with.", required=True
)
_KEEP_PREFIX = flags.DEFINE_bool("keep_prefix", False, "Whether names keep it.")
_OUTPUT = flags.DEFINE_string("output", None, "The file to write.", required=True)

# Ends of enumerations and numbers without a meaning.
_NO_NAMES = frozenset({"INVALID", "SIZE", "FORCE_INT", "ERROR_FORCE_INT"})


def entries(header: str, prefix: str, keep_prefix: bool) -> list[str]:
    """Returns a line `{number, "name"},` for each name that begins with the prefix.

    Args:
        header: the text of the header.
        prefix: of the names.
        keep_prefix: whether the lines have the names with it.

    Raises:
        ValueError: there is none.
    """
    found = re.findall(rf"\b{prefix}(\w+)\s*=\s*(\d+)\s*[,}}\n]", header)
    lines = [
        f'{{{number}, "{prefix if keep_prefix else ""}{name}"}},'
        for name, number in found
        if name not in _NO_NAMES
    ]
    if not lines:
        raise ValueError(f"found no name that begins with {prefix}; is this CUPTI's header?")
    return lines


def main(_: list[str]) -> None:
    """Writes the lines."""
    header = pathlib.Path(_HEADER.value).read_text(encoding="utf-8")
    lines = entries(header, _PREFIX.value, _KEEP_PREFIX.value)
    pathlib.Path(_OUTPUT.value).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    app.run(main)
