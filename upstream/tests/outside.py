"""Which failures ask for an operator that the profile leaves out.

The operators come from the profile: what upstream registers for CUDA and this build does not. A failure for the lack
of any other operator is one of the build, such as one that fell out of a profile by mistake.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

# What PyTorch says of an operator that a backend does not have.
_LACK = re.compile(r"Could not run '([^']+)' with arguments from the '(\w+)' backend")


@dataclass(frozen=True)
class Outside:
    """Operators by dispatch key that are upstream's and not this build's.

    Attributes:
        operators: pairs such as ("CUDA", "aten::tan.out").
    """

    operators: frozenset[tuple[str, str]] = frozenset()

    @staticmethod
    def of(full: Mapping[str, Collection[str]], built: Mapping[str, Collection[str]]) -> Outside:
        """What one registrations.json (aten_cuda/codegen/generate.py) has more than another.

        Args:
            full: what the profile `full` registers, by dispatch key.
            built: what this build registers.
        """
        return Outside(
            frozenset(
                (key, name)
                for key, names in full.items()
                for name in set(names) - set(built.get(key, ()))
            )
        )

    @staticmethod
    def read(full: pathlib.Path, built: pathlib.Path) -> Outside:
        """The same from two files."""
        return Outside.of(*(json.loads(path.read_text(encoding="utf-8")) for path in (full, built)))

    def asked_for(self, reason: str) -> bool:
        """Whether a failure says that it lacks one of the operators."""
        lack = _LACK.search(reason)
        return lack is not None and (lack[2], lack[1]) in self.operators
