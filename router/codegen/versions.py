"""For which versions of PyTorch an entry of a vendor's YAML is: the key `torch`, as in `torch: ">=2.12"`."""

from __future__ import annotations

import operator
import re

_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
_MINOR = re.compile(r"(\d+)\.(\d+)")
_CLAUSE = re.compile(r"\s*(<=|>=|==|!=|<|>)\s*(\d+\.\d+)\s*")


def minor(version: str) -> tuple[int, int]:
    """The minor version that a version of PyTorch belongs to.

    Args:
      version: such as "2.15" or "2.15.0".

    Returns:
      Two numbers, which compare as versions do.

    Raises:
      ValueError: it is none.
    """
    found = _MINOR.match(version)
    if found is None:
        raise ValueError(f"found the version {version!r}; needed one like 2.15")
    return int(found[1]), int(found[2])


def matches(clauses: str, version: str) -> bool:
    """Whether a version of PyTorch is among those that are meant.

    Args:
      clauses: comparisons with minor versions, commas between them, all of which have to hold:
        ">=2.12", "<2.12", ">=2.9,<2.15", "==2.9".
      version: such as "2.15".

    Raises:
      ValueError: a clause that is no comparison: what was found, and what is needed.
    """
    holds = True
    for clause in clauses.split(","):
        found = _CLAUSE.fullmatch(clause)
        if found is None:
            raise ValueError(
                f"found torch: {clauses!r}; needed comparisons with minor versions of PyTorch, "
                'such as ">=2.12" or ">=2.9,<2.15"'
            )
        holds = holds and bool(_COMPARISONS[found[1]](minor(version), minor(found[2])))
    return holds
