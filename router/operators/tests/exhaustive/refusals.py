"""What a device refuses because a GPU does (tests/stock/types_test.py holds the list against PyTorch's)."""

from __future__ import annotations

from typing import Any


def is_refused(outcome: Any) -> bool:
    """Whether an operator said that CUDA has no kernel for the type."""
    return isinstance(outcome, NotImplementedError) and "fails on a GPU, too" in str(outcome)
