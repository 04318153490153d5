"""PyTorch's table of operators with samples (OpInfo), as programs walk it that several processes share."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

REFUSALS = (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError)
"""What operators raise for arguments that they do not take."""


def add_part(parser: argparse.ArgumentParser) -> None:
    """Adds the option --part, whose value `operators` takes.

    Args:
        parser: of a program that walks the table.
    """
    parser.add_argument("--part", default="1/1", help="of the table, for several processes")


def operators(part: str) -> list[Any]:
    """The operators (OpInfo) of a part of the table. Switches warnings off: many samples give some.

    Args:
        part: which part and of how many, such as "1/8".

    Raises:
        ValueError: for a text that names no part.
        ImportError: without the package expecttest.
    """
    number, count = map(int, part.split("/"))
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.simplefilter("ignore")
    return list(op_db[number - 1 :: count])
