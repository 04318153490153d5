"""What numba-cuda's tests ask pytest for and its package leaves out: its repository has it in a conftest.py."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: Any) -> None:
    """Sets what is an option of the command there: whether to keep code that a check does not match."""
    request.cls._dump_failed_filechecks = False
