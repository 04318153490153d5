"""What torchada's tests of its private tables ask, answered by the adapter's rules for MUSA.

torchada keeps what it replaces in sources in a private table, and its tests of that table say what a CUDA name becomes.
That is also this project's to say, so the table's names are answered by translating them. Nobody but these tests has
the names.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import Rules, translate

ANSWERED = (
    "torchada._mapping.EXT_REPLACED_MAPPING",
    "torchada._mapping._MAPPING_RULE",
    "torchada.utils.cpp_extension._port_cuda_source",
)
"""The private names that are answered."""


class Translations(dict[str, str]):
    """What becomes of names, headers and pieces of code: keys are CUDA's, values MUSA's.

    It has the names that a rule names; another text is translated when it is looked up, and is in it if that changes it.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules
        # Members are names behind a point only.
        named = [name for name, family in rules.names() if family != "members"]
        self.update((name, text) for name in named if (text := self._translated(name)) != name)

    def __missing__(self, key: str) -> str:
        found = self._translated(key)
        if found == key:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (super().__contains__(key) or self._translated(key) != key)

    def _translated(self, key: str) -> str:
        if key.endswith((".h", ".cuh")) and not key.startswith("#"):
            return translate(f"#include <{key}>", self._rules).text[len("#include <") : -1]
        return translate(key, self._rules).text


class _Oldest:
    """A version before all others: that of a backend which is not there."""

    def __lt__(self, other: object) -> bool:
        return True


def install(cpp_extension: ModuleType) -> None:
    """Gives the tests the names.

    Args:
        cpp_extension: `torchada.utils.cpp_extension`.
    """
    rules = Rules(platforms.load("musa"))
    table = ModuleType("torchada._mapping")
    suffixes: Mapping[str, str] = rules.suffixes
    vars(table).update(
        _MAPPING_RULE=Translations(rules),
        EXT_REPLACED_MAPPING={
            suffix.removeprefix("."): own.removeprefix(".") for suffix, own in suffixes.items()
        },
    )
    sys.modules[table.__name__] = table
    # test_cuda_patching.py asks for the version of MUSA's backend when it is read, to mark tests that are not applicable.
    versions = ModuleType("torchada._version")
    vars(versions)["version_of"] = lambda source: _Oldest()
    sys.modules[versions.__name__] = versions
    vars(cpp_extension)["_port_cuda_source"] = lambda source: translate(source, rules).text
